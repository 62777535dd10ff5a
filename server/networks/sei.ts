import { defineEvmNetwork } from './evm.ts'

export const sei = defineEvmNetwork({
  id: 'sei',
  name: 'Sei',
  hotIndex: 1,
  symbol: 'SEI',
  blockTimeMs: 400,
  tokenSuffix: 'SEI',
  production: {
    // Final with its block; the tags say the same as `latest`, so only depth is asked for, against a node that lies.
    confirmations: 10,
    finalityBlocks: 64,
    addressExplorer: 'https://seiscan.io/address/{}',
    txExplorer: 'https://seiscan.io/tx/{}',
    evm: { chainId: 1329, finalityTag: null },
  },
})
