import { defineEvmNetwork, rollupFinality } from './evm.ts'

export const celo = defineEvmNetwork({
  id: 'celo',
  name: 'Celo',
  hotIndex: 6,
  symbol: 'CELO',
  blockTimeMs: 1000,
  tokenSuffix: 'CELO',
  production: {
    // An OP Stack rollup since March 2025: 1800 blocks are half an hour.
    confirmations: 20,
    finalityBlocks: 1800,
    addressExplorer: 'https://celoscan.io/address/{}',
    txExplorer: 'https://celoscan.io/tx/{}',
    evm: { chainId: 42_220, ...rollupFinality },
  },
})
