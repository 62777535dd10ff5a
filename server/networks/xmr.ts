import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxDefaults } from './sandbox.ts'

/** Standard, subaddress, integrated address. A regtest daemon uses the prefixes of mainnet, so the sandbox has the same. */
const regexAddress =
  '^(?:4[1-9AB][1-9A-HJ-NP-Za-km-z]{93}|8[2-9A-C][1-9A-HJ-NP-Za-km-z]{93}|4[B-HJ-M][1-9A-HJ-NP-Za-km-z]{104})$'

export const xmr = defineNetwork({
  id: 'xmr',
  name: 'Monero',
  family: 'monero',
  coinType: 128,
  symbol: 'XMR',
  decimals: 12,
  blockTimeMs: 120_000,
  memo: 'none',
  tokenSuffix: 'XMR',
  replaces: 'unseen',
  production: {
    // The protocol itself locks an output for 10 blocks.
    confirmations: 10,
    finalityBlocks: 60,
    regexAddress,
    addressExplorer: 'https://xmrchain.net/search?value={}',
    txExplorer: 'https://xmrchain.net/tx/{}',
  },
  sandbox: {
    ...sandboxDefaults('xmr'),
    confirmations: 10,
    finalityBlocks: 20,
    regexAddress,
  },
})
