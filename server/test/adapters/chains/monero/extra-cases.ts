import { randomBytes } from 'node:crypto'
import { readPoint, timesBase, toScalar } from '../../../../src/adapters/chains/monero/ed25519.ts'
import { createWalletKeys, derive, outputSecret, viewTag } from '../../../../src/adapters/chains/monero/keys.ts'
import { fromHex, toHex } from '../../../../src/adapters/chains/monero/transaction.ts'
import { spendKeyOf, viewKeysOf } from '../../../../src/adapters/chains/monero/view-keys.ts'
import { present } from '../../../../src/lib/assert.ts'

const seedKey = new Uint8Array(randomBytes(32))
export const keys = createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
const createKey = () => toHex(timesBase(toScalar(randomBytes(32))).toBytes())
/** y = 2 is not on the curve. */
const noPoint = `02${'00'.repeat(31)}`
const NEUTRAL = `01${'00'.repeat(31)}`
const zeros = (count: number) => '00'.repeat(count)

/**
 * Extra fields of a transaction that pays to `key`, and whether Monero reads the key: by tx_extra.h, parse_tx_extra of
 * cryptonote_format_utils.cpp and process_new_transaction of wallet2.cpp; `extra-wallet.test.ts` asks the wallet program.
 */
const FIELDS: readonly (readonly [what: string, 'read' | 'not read', extra: (key: string, other: string) => string])[] =
  [
    ['a public key', 'read', (key) => `01${key}`],
    ['a second public key', 'read', (key, other) => `01${other}01${key}`],
    ['a public key after a nonce of 255 bytes', 'read', (key) => `02ff01${zeros(255)}01${key}`],
    ['a public key after a nonce of 256 bytes', 'not read', (key) => `028002${zeros(256)}01${key}`],
    ['a public key after a nonce of 300 bytes', 'not read', (key) => `02ac02${zeros(300)}01${key}`],
    [
      'a public key after a nonce whose length is not in the shortest form',
      'not read',
      (key) => `028300aabbcc01${key}`,
    ],
    ['a public key after a merge-mining field', 'read', (key) => `032105${zeros(32)}01${key}`],
    ['a public key after an empty merge-mining field', 'not read', (key) => `030001${key}`],
    ['a public key after a merge-mining field that is too short', 'not read', (key) => `032005${zeros(31)}01${key}`],
    ['a public key after a merge-mining field that is too long', 'not read', (key) => `032205${zeros(33)}01${key}`],
    [
      'a public key after a depth that is not in the shortest form',
      'not read',
      (key) => `03228500${zeros(32)}01${key}`,
    ],
    ['a public key after a field of minergate', 'read', (key) => `de03aabbcc01${key}`],
    ['a public key after an unknown field', 'not read', (key) => `0501${key}`],
    ['a public key after padding', 'not read', (key) => `000001${key}`],
    ['a public key before an unreadable field', 'read', (key) => `01${key}0300`],
    ['a public key before an incomplete list of additional keys', 'read', (key, other) => `01${key}0402${other}`],
    ['a public key after bytes that are no point', 'read', (key) => `01${noPoint}01${key}`],
    ['an additional key', 'read', (key, other) => `01${other}0401${key}`],
    ['an additional key without a public key', 'not read', (key) => `0401${key}`],
    ['an additional key in an incomplete list', 'not read', (key, other) => `01${other}0402${key}`],
    ['an additional key in the first of two lists', 'read', (key, other) => `01${other}0401${key}0401${other}`],
    ['an additional key in the second of two lists', 'not read', (key, other) => `01${other}0401${other}0401${key}`],
    ['bytes that are no point, for which wallets take the neutral point', 'read', () => `01${noPoint}`],
  ]

export type Case = Readonly<{ what: string; isRead: boolean; extra: string; key: string }>

/** Each with keys of its own: the wallet program keeps one of several outputs with the same one-time key. */
export const cases: readonly Case[] = FIELDS.map(([what, verdict, extra]) => {
  const [key, other] = [createKey(), createKey()]
  return { what, isRead: verdict === 'read', extra: extra(key, other), key: extra.length === 0 ? NEUTRAL : key }
})

/** The only output of a transaction to our primary address whose sender used this key. */
export function outputFor(publicKey: string) {
  const shared = derive(present(readPoint(fromHex(publicKey)), 'a point'), keys.view)
  const secret = outputSecret(shared, 0)
  return { secret, key: keys.spendPoint.add(timesBase(secret)).toBytes(), tag: viewTag(shared, 0) }
}
