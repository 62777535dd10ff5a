import { defineEvmNetwork } from './evm.ts'

export const sonic = defineEvmNetwork({
  id: 'sonic',
  name: 'Sonic',
  hotIndex: 10,
  symbol: 'S',
  blockTimeMs: 630,
  tokenSuffix: 'SONIC',
  production: {
    // Final with its block; only depth is asked for, against a node that lies.
    confirmations: 10,
    finalityBlocks: 64,
    addressExplorer: 'https://sonicscan.org/address/{}',
    txExplorer: 'https://sonicscan.org/tx/{}',
    evm: { chainId: 146, finalityTag: null },
  },
})
