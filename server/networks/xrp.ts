import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxDefaults } from './sandbox.ts'

export const xrp = defineNetwork({
  id: 'xrp',
  name: 'XRP Ledger',
  family: 'ripple',
  coinType: 144,
  symbol: 'XRP',
  decimals: 6,
  blockTimeMs: 4000,
  memo: 'optional',
  memoName: 'Destination tag',
  tokenSuffix: 'XRPL',
  production: {
    // A validated ledger is final.
    confirmations: 1,
    finalityBlocks: 10,
    // Classic address, and X-address (XLS-5), whose prefix tells main and test networks apart.
    regexAddress: '^(?:r[1-9A-HJ-NP-Za-km-z]{24,33}|X[7V][1-9A-HJ-NP-Za-km-z]{45})$',
    addressExplorer: 'https://xrpscan.com/account/{}',
    txExplorer: 'https://xrpscan.com/tx/{}',
  },
  sandbox: {
    ...sandboxDefaults('xrp'),
    regexAddress: '^(?:r[1-9A-HJ-NP-Za-km-z]{24,33}|T[7V][1-9A-HJ-NP-Za-km-z]{45})$',
  },
})
