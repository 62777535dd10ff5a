import { defineEvmNetwork } from './evm.ts'

export const cchain = defineEvmNetwork({
  id: 'cchain',
  name: 'Avalanche C-Chain',
  hotIndex: 5,
  symbol: 'AVAX',
  blockTimeMs: 1700,
  tokenSuffix: 'AVAXC',
  production: {
    // Snowman never takes back an accepted block; the depth covers a node that lies.
    confirmations: 12,
    finalityBlocks: 64,
    addressExplorer: 'https://snowtrace.io/address/{}',
    txExplorer: 'https://snowtrace.io/tx/{}',
    evm: { chainId: 43_114, finalityTag: 'finalized' },
  },
})
