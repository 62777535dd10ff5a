import { hkdfSync } from 'node:crypto'
import { assert } from '../../../lib/assert.ts'
import { bytesOf } from './ed25519.ts'
import type { WalletKeys } from './keys.ts'

/** Separates this key from others that are derived from the same secret. */
const PURPOSE = 'swapyard monero wallet file'

/**
 * The password of the wallet file, which holds the spend key: derived from the spend key itself (RFC 5869), which follows
 * from the seed alone. The view key would not do, because the keystore holds it in clear (M11).
 */
export function walletPasswordOf({ spend }: WalletKeys): string {
  assert(spend !== null, 'only a process with the seed opens a wallet')
  return Buffer.from(hkdfSync('sha256', bytesOf(spend, 32), new Uint8Array(0), PURPOSE, 32)).toString('hex')
}
