import { defineNetwork } from '../src/core/domain/network.ts'
import { regtestVersions, sandboxDefaults } from './sandbox.ts'

/** P2PKH at the relay rate of 3 sat/vB; smaller limits of segwit outputs are not used. */
const dustUnits = 546n

export const btc = defineNetwork({
  id: 'btc',
  name: 'Bitcoin',
  family: 'bitcoin',
  coinType: 0,
  symbol: 'BTC',
  decimals: 8,
  blockTimeMs: 600_000,
  memo: 'none',
  tokenSuffix: 'BTC',
  production: {
    // The value tiers make it 4 and 8: more than an hour for what is worth an attack.
    confirmations: 2,
    finalityBlocks: 24,
    regexAddress:
      '^(?:1[1-9A-HJ-NP-Za-km-z]{25,33}|3[1-9A-HJ-NP-R][1-9A-HJ-NP-Za-km-z]{32}|bc1(?:q[ac-hj-np-z02-9]{38}|[qp][ac-hj-np-z02-9]{58})|BC1(?:Q[AC-HJ-NP-Z02-9]{38}|[QP][AC-HJ-NP-Z02-9]{58}))$',
    addressExplorer: 'https://mempool.space/address/{}',
    txExplorer: 'https://mempool.space/tx/{}',
    bitcoin: {
      bech32: 'bc',
      cashAddr: null,
      pubKeyHash: 0x00,
      scriptHash: [0x05],
      wif: 0x80,
      dustUnits,
      replaceable: true,
    },
  },
  sandbox: {
    ...sandboxDefaults('btc'),
    regexAddress:
      '^(?:(?:m[f-z]|n[1-4])[1-9A-HJ-NP-Za-km-z]{32}|2[MN][1-9A-HJ-NP-Za-km-z]{33}|bcrt1(?:q[ac-hj-np-z02-9]{38}|[qp][ac-hj-np-z02-9]{58})|BCRT1(?:Q[AC-HJ-NP-Z02-9]{38}|[QP][AC-HJ-NP-Z02-9]{58}))$',
    bitcoin: {
      bech32: 'bcrt',
      cashAddr: null,
      ...regtestVersions,
      dustUnits,
      // The sandbox's node takes no replacements.
      replaceable: true,
    },
  },
})
