import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxDefaults } from './sandbox.ts'

/** Base58check with version 0x41, the same on every network of TRON. */
const regexAddress = '^T[9A-HJ-NP-Z][1-9A-HJ-NP-Za-km-z]{32}$'

export const trx = defineNetwork({
  id: 'trx',
  name: 'TRON',
  family: 'tron',
  coinType: 195,
  symbol: 'TRX',
  decimals: 6,
  blockTimeMs: 3000,
  memo: 'none',
  tokenSuffix: 'TRC20',
  production: {
    // 19 of the 27 producers on top make a block solid.
    confirmations: 20,
    finalityBlocks: 100,
    regexAddress,
    addressExplorer: 'https://tronscan.org/#/address/{}',
    txExplorer: 'https://tronscan.org/#/transaction/{}',
  },
  sandbox: {
    ...sandboxDefaults('trx'),
    regexAddress,
  },
})
