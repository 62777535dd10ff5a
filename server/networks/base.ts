import { defineEvmNetwork, rollupFinality } from './evm.ts'

export const base = defineEvmNetwork({
  id: 'base',
  name: 'Base',
  hotIndex: 3,
  symbol: 'ETH',
  blockTimeMs: 2000,
  tokenSuffix: 'BASE',
  production: {
    // Blocks are the sequencer's word until their batch is on Ethereum: 900 blocks are half an hour.
    confirmations: 20,
    finalityBlocks: 900,
    addressExplorer: 'https://basescan.org/address/{}',
    txExplorer: 'https://basescan.org/tx/{}',
    evm: { chainId: 8453, ...rollupFinality },
  },
})
