import { expect, test } from 'vitest'
import { spendKeyOf, viewKeysOf } from './view-keys.ts'
import { walletPasswordOf } from './wallet-password.ts'

test('M11: the password of the wallet file is derived from the spend key', () => {
  // HKDF-SHA256 of the key 7, 32 bytes little-endian, by Python's hmac and hashlib.
  expect(walletPasswordOf(7n)).toBe('e001bb6e8b46a79901d8f256cd402bd2e2a9098cc32527bb6f97ece267c5a1d3')
})

test('M11: the keys that the keystore shows in clear do not open the wallet file', () => {
  const spendKey = spendKeyOf(new Uint8Array(32).fill(7))
  const shown = viewKeysOf(spendKey)
  const password = walletPasswordOf(spendKey)
  for (const key of [shown.view, shown.spend]) expect(password).not.toBe(Buffer.from(key).toString('hex'))
})
