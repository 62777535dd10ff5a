import { defineEvmNetwork } from './evm.ts'

export const bsc = defineEvmNetwork({
  id: 'bsc',
  name: 'BNB Smart Chain',
  hotIndex: 4,
  symbol: 'BNB',
  blockTimeMs: 750,
  tokenSuffix: 'BEP20',
  production: {
    // Fast finality (BEP-126) takes two blocks; the depth also covers its outage.
    confirmations: 15,
    finalityBlocks: 200,
    addressExplorer: 'https://bscscan.com/address/{}',
    txExplorer: 'https://bscscan.com/tx/{}',
    evm: { chainId: 56, finalityTag: 'finalized' },
  },
})
