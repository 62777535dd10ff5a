import { defineEvmNetwork } from './evm.ts'

export const linea = defineEvmNetwork({
  id: 'linea',
  name: 'Linea',
  hotIndex: 7,
  symbol: 'ETH',
  blockTimeMs: 2000,
  tokenSuffix: 'LINEA',
  production: {
    // `finalized` here waits for the proof on Ethereum, which takes hours: only large deposits wait for it, and our own
    // transactions are final by depth.
    confirmations: 20,
    finalityBlocks: 900,
    addressExplorer: 'https://lineascan.build/address/{}',
    txExplorer: 'https://lineascan.build/tx/{}',
    evm: { chainId: 59_144, finalityTag: null, finalizedAboveUsd: 50_000n },
  },
})
