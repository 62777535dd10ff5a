import { defineNetwork } from '../src/core/domain/network.ts'
import { regtestVersions, sandboxDefaults } from './sandbox.ts'

/** P2PKH at Litecoin Core's dust relay rate of 30 000 per kvB, ten times Bitcoin's. */
const dustUnits = 5460n

export const ltc = defineNetwork({
  id: 'ltc',
  name: 'Litecoin',
  family: 'bitcoin',
  coinType: 2,
  symbol: 'LTC',
  decimals: 8,
  blockTimeMs: 150_000,
  memo: 'none',
  tokenSuffix: 'LTC',
  production: {
    // A quarter of an hour; the value tiers make it half an hour and an hour.
    confirmations: 6,
    finalityBlocks: 48,
    regexAddress:
      '^(?:L[K-Za-i][1-9A-HJ-NP-Za-km-z]{32}|M[7-9A-HJ-NP-X][1-9A-HJ-NP-Za-km-z]{32}|3[1-9A-HJ-NP-R][1-9A-HJ-NP-Za-km-z]{32}|ltc1(?:q[ac-hj-np-z02-9]{38}|[qp][ac-hj-np-z02-9]{58})|LTC1(?:Q[AC-HJ-NP-Z02-9]{38}|[QP][AC-HJ-NP-Z02-9]{58}))$',
    addressExplorer: 'https://litecoinspace.org/address/{}',
    txExplorer: 'https://litecoinspace.org/tx/{}',
    bitcoin: {
      bech32: 'ltc',
      cashAddr: null,
      pubKeyHash: 0x30,
      // 0x05 (`3…`) is the old form, shared with Bitcoin: read, never written.
      scriptHash: [0x32, 0x05],
      wif: 0xb0,
      dustUnits,
      replaceable: false,
    },
  },
  sandbox: {
    ...sandboxDefaults('ltc'),
    regexAddress:
      '^(?:(?:m[f-z]|n[1-4])[1-9A-HJ-NP-Za-km-z]{32}|Q[L-Za-j][1-9A-HJ-NP-Za-km-z]{32}|2[MN][1-9A-HJ-NP-Za-km-z]{33}|rltc1(?:q[ac-hj-np-z02-9]{38}|[qp][ac-hj-np-z02-9]{58})|RLTC1(?:Q[AC-HJ-NP-Z02-9]{38}|[QP][AC-HJ-NP-Z02-9]{58}))$',
    bitcoin: {
      bech32: 'rltc',
      cashAddr: null,
      ...regtestVersions,
      scriptHash: [0x3a, 0xc4],
      dustUnits,
      replaceable: true,
    },
  },
})
