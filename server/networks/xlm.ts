import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxDefaults } from './sandbox.ts'

/** Strkey of an ed25519 public key (SEP-23). Muxed accounts (`M…`) are refused: their memo is the memo field. */
const regexAddress = '^G[A-D][A-Z2-7]{54}$'

export const xlm = defineNetwork({
  id: 'xlm',
  name: 'Stellar',
  family: 'stellar',
  coinType: 148,
  symbol: 'XLM',
  decimals: 7,
  blockTimeMs: 5500,
  memo: 'optional',
  memoName: 'Memo',
  tokenSuffix: 'XLM',
  production: {
    // A closed ledger is final.
    confirmations: 1,
    finalityBlocks: 10,
    regexAddress,
    addressExplorer: 'https://stellar.expert/explorer/public/account/{}',
    txExplorer: 'https://stellar.expert/explorer/public/tx/{}',
  },
  sandbox: {
    ...sandboxDefaults('xlm'),
    regexAddress,
  },
})
