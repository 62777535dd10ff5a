import { expect, test } from 'vitest'
import { createWalletKeys } from './keys.ts'
import { spendKeyOf, viewKeysOf } from './view-keys.ts'
import { walletPasswordOf } from './wallet-password.ts'

const seedKey = new Uint8Array(32).fill(7)
const shown = viewKeysOf(spendKeyOf(seedKey))
const keys = createWalletKeys(shown, seedKey)

test('M11: the password of the wallet file is derived from the spend key', () => {
  // HKDF-SHA256 of the key 7, 32 bytes little-endian, by Python's hmac and hashlib.
  const password = 'e001bb6e8b46a79901d8f256cd402bd2e2a9098cc32527bb6f97ece267c5a1d3'
  expect(walletPasswordOf({ ...keys, spend: 7n })).toBe(password)
  expect(walletPasswordOf({ ...keys, view: 8n, spend: 7n })).toBe(password)
})

test('M11: the keys that the keystore shows in clear do not open the wallet file', () => {
  const password = walletPasswordOf(keys)
  for (const key of [shown.view, shown.spend]) expect(password).not.toBe(Buffer.from(key).toString('hex'))
  for (const view of [keys.view, 7n]) expect(walletPasswordOf({ ...keys, spend: view })).not.toBe(password)
  expect(() => walletPasswordOf(createWalletKeys(shown, null))).toThrow('only a process with the seed')
})
