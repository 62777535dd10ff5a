import { defineEvmNetwork, rollupFinality } from './evm.ts'

export const uni = defineEvmNetwork({
  id: 'uni',
  name: 'Unichain',
  hotIndex: 11,
  symbol: 'ETH',
  blockTimeMs: 1000,
  tokenSuffix: 'UNICHAIN',
  production: {
    // Blocks are the sequencer's word until their batch is on Ethereum: 1800 blocks are half an hour.
    confirmations: 20,
    finalityBlocks: 1800,
    addressExplorer: 'https://uniscan.xyz/address/{}',
    txExplorer: 'https://uniscan.xyz/tx/{}',
    evm: { chainId: 130, ...rollupFinality },
  },
})
