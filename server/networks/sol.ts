import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxDefaults } from './sandbox.ts'

/** Base58 of 32 bytes, without a checksum: a form that many other strings have, too. */
const regexAddress = '^[1-9A-HJ-NP-Za-km-z]{32,44}$'

export const sol = defineNetwork({
  id: 'sol',
  name: 'Solana',
  family: 'solana',
  coinType: 501,
  symbol: 'SOL',
  decimals: 9,
  blockTimeMs: 400,
  memo: 'none',
  tokenSuffix: 'SOL',
  production: {
    // 32 slots on top are the commitment `finalized`.
    confirmations: 32,
    finalityBlocks: 150,
    genesis: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    regexAddress,
    addressExplorer: 'https://solscan.io/account/{}',
    txExplorer: 'https://solscan.io/tx/{}',
  },
  sandbox: {
    ...sandboxDefaults('sol'),
    regexAddress,
  },
})
