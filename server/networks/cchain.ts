import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxExplorers } from './sandbox-explorers.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'

export const cchain = defineNetwork({
  id: 'cchain',
  name: 'Avalanche C-Chain',
  family: 'evm',
  // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
  coinType: 60,
  hotIndex: 5,
  symbol: 'AVAX',
  decimals: 18,
  blockTimeMs: 1700,
  memo: 'none',
  tokenSuffix: 'AVAXC',
  production: {
    // Snowman never takes back an accepted block; the depth covers a node that lies.
    confirmations: 12,
    finalityBlocks: 64,
    regexAddress,
    addressExplorer: 'https://snowtrace.io/address/{}',
    txExplorer: 'https://snowtrace.io/tx/{}',
    evm: { chainId: 43_114, finalityTag: 'finalized', dynamicFees: true },
  },
  sandbox: {
    confirmations: 3,
    finalityBlocks: 10,
    blockTimeMs: 1000,
    regexAddress,
    ...sandboxExplorers('cchain'),
    evm: { chainId: 3_133_743_114, finalityTag: null, dynamicFees: true },
  },
})
