import { defineNetwork } from '../src/core/domain/network.ts'
import { regtestVersions, sandboxDefaults } from './sandbox.ts'

/** Soft dust limit of Dogecoin Core 1.14 (0.01 DOGE): below it an output must pay a surcharge. */
const dustUnits = 1_000_000n

export const doge = defineNetwork({
  id: 'doge',
  name: 'Dogecoin',
  family: 'bitcoin',
  coinType: 3,
  symbol: 'DOGE',
  decimals: 8,
  blockTimeMs: 60_000,
  memo: 'none',
  tokenSuffix: 'DOGE',
  production: {
    // Blocks of a minute, mined along with Litecoin's: 20 are as many minutes.
    confirmations: 20,
    finalityBlocks: 120,
    regexAddress: '^(?:D[5-9A-HJ-NP-U][1-9A-HJ-NP-Za-km-z]{32}|(?:9[r-z]|A[1-9A-F])[1-9A-HJ-NP-Za-km-z]{32})$',
    addressExplorer: 'https://blockchair.com/dogecoin/address/{}',
    txExplorer: 'https://blockchair.com/dogecoin/transaction/{}',
    bitcoin: {
      bech32: null,
      cashAddr: null,
      pubKeyHash: 0x1e,
      scriptHash: [0x16],
      wif: 0x9e,
      dustUnits,
      replaceable: false,
    },
  },
  sandbox: {
    ...sandboxDefaults('doge'),
    regexAddress: '^(?:(?:m[f-z]|n[1-4])[1-9A-HJ-NP-Za-km-z]{32}|2[MN][1-9A-HJ-NP-Za-km-z]{33})$',
    bitcoin: {
      bech32: null,
      cashAddr: null,
      ...regtestVersions,
      dustUnits,
      replaceable: false,
    },
  },
})
