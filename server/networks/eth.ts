import { defineEvmNetwork } from './evm.ts'

export const eth = defineEvmNetwork({
  id: 'eth',
  name: 'Ethereum',
  symbol: 'ETH',
  blockTimeMs: 12_000,
  tokenSuffix: 'ERC20',
  production: {
    // Two epochs (64 blocks) are what the protocol itself finalizes; 96 allows for a late checkpoint.
    confirmations: 12,
    finalityBlocks: 96,
    addressExplorer: 'https://etherscan.io/address/{}',
    txExplorer: 'https://etherscan.io/tx/{}',
    evm: { chainId: 1, finalityTag: 'finalized' },
  },
})
