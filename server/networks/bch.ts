import { defineNetwork } from '../src/core/domain/network.ts'
import { regtestVersions, sandboxDefaults } from './sandbox.ts'

/** P2PKH at the relay rate of 3 sat/B. */
const dustUnits = 546n

export const bch = defineNetwork({
  id: 'bch',
  name: 'Bitcoin Cash',
  family: 'bitcoin',
  coinType: 145,
  symbol: 'BCH',
  decimals: 8,
  blockTimeMs: 600_000,
  memo: 'none',
  tokenSuffix: 'BCH',
  production: {
    // Its share of the SHA-256 hash rate is small: three times Bitcoin's depth. Nodes refuse reorgs deeper than 10.
    confirmations: 6,
    finalityBlocks: 40,
    // CashAddr alone: the old base58 form cannot be distinguished from Bitcoin's, and paying the wrong chain loses the money.
    regexAddress:
      '^(?:(?:bitcoincash:)?[qp][pqrz][ac-hj-np-z02-9]{40}|(?:BITCOINCASH:)?[QP][PQRZ][AC-HJ-NP-Z02-9]{40})$',
    addressExplorer: 'https://blockchair.com/bitcoin-cash/address/{}',
    txExplorer: 'https://blockchair.com/bitcoin-cash/transaction/{}',
    bitcoin: {
      bech32: null,
      cashAddr: 'bitcoincash',
      pubKeyHash: 0x00,
      scriptHash: [0x05],
      wif: 0x80,
      dustUnits,
      replaceable: false,
    },
  },
  sandbox: {
    ...sandboxDefaults('bch'),
    regexAddress: '^(?:(?:bchreg:)?[qp][pqrz][ac-hj-np-z02-9]{40}|(?:BCHREG:)?[QP][PQRZ][AC-HJ-NP-Z02-9]{40})$',
    bitcoin: {
      bech32: null,
      cashAddr: 'bchreg',
      ...regtestVersions,
      dustUnits,
      replaceable: false,
    },
  },
})
