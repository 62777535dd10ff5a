import { defineEvmNetwork, rollupFinality } from './evm.ts'

export const op = defineEvmNetwork({
  id: 'op',
  name: 'OP Mainnet',
  hotIndex: 9,
  symbol: 'ETH',
  blockTimeMs: 2000,
  tokenSuffix: 'OPTM',
  production: {
    // Blocks are the sequencer's word until their batch is on Ethereum: 900 blocks are half an hour.
    confirmations: 20,
    finalityBlocks: 900,
    addressExplorer: 'https://optimistic.etherscan.io/address/{}',
    txExplorer: 'https://optimistic.etherscan.io/tx/{}',
    evm: { chainId: 10, ...rollupFinality },
  },
})
