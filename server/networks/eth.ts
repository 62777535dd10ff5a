import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxExplorers } from './sandbox-explorers.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'

export const eth = defineNetwork({
  id: 'eth',
  name: 'Ethereum',
  family: 'evm',
  // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
  coinType: 60,
  symbol: 'ETH',
  decimals: 18,
  blockTimeMs: 12_000,
  memo: 'none',
  tokenSuffix: 'ERC20',
  production: {
    // Two epochs (64 blocks) are what the protocol itself finalizes; 96 allows for a late checkpoint.
    confirmations: 12,
    finalityBlocks: 96,
    regexAddress,
    addressExplorer: 'https://etherscan.io/address/{}',
    txExplorer: 'https://etherscan.io/tx/{}',
    evm: { chainId: 1, finalityTag: 'finalized', dynamicFees: true },
  },
  sandbox: {
    confirmations: 3,
    finalityBlocks: 10,
    blockTimeMs: 1000,
    regexAddress,
    ...sandboxExplorers('eth'),
    evm: { chainId: 3_133_700_001, finalityTag: null, dynamicFees: true },
  },
})
