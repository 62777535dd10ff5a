import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxExplorers } from './sandbox-explorers.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'

export const op = defineNetwork({
  id: 'op',
  name: 'OP Mainnet',
  family: 'evm',
  // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
  coinType: 60,
  hotIndex: 9,
  symbol: 'ETH',
  decimals: 18,
  blockTimeMs: 2000,
  memo: 'none',
  tokenSuffix: 'OPTM',
  production: {
    // Blocks are the sequencer's word until their batch is on Ethereum: 900 blocks are half an hour.
    confirmations: 20,
    finalityBlocks: 900,
    regexAddress,
    addressExplorer: 'https://optimistic.etherscan.io/address/{}',
    txExplorer: 'https://optimistic.etherscan.io/tx/{}',
    evm: {
      chainId: 10,
      finalityTag: 'safe',
      // Above, a deposit waits until its block stands in a batch on Ethereum, and above the next tier until that is final.
      safeAboveUsd: 1_000n,
      finalizedAboveUsd: 50_000n,
      dynamicFees: true,
    },
  },
  sandbox: {
    confirmations: 3,
    finalityBlocks: 10,
    blockTimeMs: 1000,
    regexAddress,
    ...sandboxExplorers('op'),
    evm: { chainId: 3_133_700_010, finalityTag: null, dynamicFees: true },
  },
})
