import { defineEvmNetwork, rollupFinality } from './evm.ts'

export const arbitrum = defineEvmNetwork({
  id: 'arbitrum',
  name: 'Arbitrum One',
  hotIndex: 2,
  symbol: 'ETH',
  blockTimeMs: 250,
  tokenSuffix: 'ARBTM',
  production: {
    // Blocks are the sequencer's word until their batch is on Ethereum: 7200 blocks are half an hour.
    confirmations: 40,
    finalityBlocks: 7200,
    addressExplorer: 'https://arbiscan.io/address/{}',
    txExplorer: 'https://arbiscan.io/tx/{}',
    evm: { chainId: 42_161, ...rollupFinality },
  },
})
