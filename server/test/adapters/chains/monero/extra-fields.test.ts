import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWith } from '../../../../../test/support/describe-with.ts'
import { createAddresses } from '../../../../src/adapters/chains/monero/address.ts'
import { createByteReader } from '../../../../src/adapters/chains/monero/byte-reader.ts'
import {
  bytesOf,
  keccak,
  readPoint,
  times,
  timesBase,
  toScalar,
} from '../../../../src/adapters/chains/monero/ed25519.ts'
import { createWalletKeys, derive, outputSecret, varint, viewTag } from '../../../../src/adapters/chains/monero/keys.ts'
import { findOutputs } from '../../../../src/adapters/chains/monero/scan.ts'
import { fromHex, parseTransaction, toHex } from '../../../../src/adapters/chains/monero/transaction.ts'
import { spendKeyOf, viewKeysOf } from '../../../../src/adapters/chains/monero/view-keys.ts'
import { createWalletSession } from '../../../../src/adapters/chains/monero/wallet.ts'
import { present } from '../../../../src/lib/assert.ts'
import { startPrivateNode } from './private-node.ts'

const seedKey = new Uint8Array(randomBytes(32))
const keys = createWalletKeys(viewKeysOf(spendKeyOf(seedKey)), seedKey)
const createKey = () => toHex(timesBase(toScalar(randomBytes(32))).toBytes())
/** y = 2 is not on the curve. */
const noPoint = `02${'00'.repeat(31)}`
const NEUTRAL = `01${'00'.repeat(31)}`
const zeros = (count: number) => '00'.repeat(count)

/**
 * Extra fields of a transaction that pays to `key`, and whether Monero reads the key: by tx_extra.h, parse_tx_extra of
 * cryptonote_format_utils.cpp and process_new_transaction of wallet2.cpp; the wallet program confirms it below.
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

type Case = Readonly<{ what: string; isRead: boolean; extra: string; key: string }>

/** Each with keys of its own: the wallet program keeps one of several outputs with the same one-time key. */
const cases: readonly Case[] = FIELDS.map(([what, verdict, extra]) => {
  const [key, other] = [createKey(), createKey()]
  return { what, isRead: verdict === 'read', extra: extra(key, other), key: extra.length === 0 ? NEUTRAL : key }
})

/** The only output of a transaction to our primary address whose sender used this key. */
function outputFor(publicKey: string) {
  const shared = derive(present(readPoint(fromHex(publicKey)), 'a point'), keys.view)
  const secret = outputSecret(shared, 0)
  return { secret, key: keys.spendPoint.add(timesBase(secret)).toBytes(), tag: viewTag(shared, 0) }
}

const UNITS = 10n ** 12n
/** The second generator of commitments (rctTypes.h: H). */
const H = present(readPoint(fromHex('8b655970153799af2aeadc9ff1add0ea6c7251d54154cfa92c173a0dd39c1f94')), 'H')

/** A payment without signatures. */
function createPayment({ extra, key }: Case): Uint8Array {
  const { secret, key: oneTimeKey, tag } = outputFor(key)
  const bytes = bytesOf(secret, 32)
  const mask = keccak(Buffer.from('amount'), bytes)
  const amount = bytesOf(UNITS, 8).map((byte, n) => byte ^ (mask[n] ?? 0))
  const blinding = toScalar(keccak(Buffer.from('commitment_mask'), bytes))
  const input = [Uint8Array.of(2, 0, 1, 1), randomBytes(32)]
  const output = [Uint8Array.of(0, 3), oneTimeKey, Uint8Array.of(tag)]
  const length = varint(extra.length / 2)
  const signatures = [Uint8Array.of(6, 1), amount, timesBase(blinding).add(times(H, UNITS)).toBytes()]
  return Buffer.concat([
    Uint8Array.of(2, 0, 1),
    ...input,
    Uint8Array.of(1),
    ...output,
    length,
    fromHex(extra),
    ...signatures,
  ])
}

describe('D47: the scan finds an output only if the wallet program reads the key of its transaction', () => {
  test.each(cases)('$what', (one) => {
    const transaction = present(parseTransaction(createPayment(one), randomBytes(32)), 'the payment')
    const found = findOutputs(keys, transaction, null).map(({ transfer }) => transfer.units)
    expect(found).toEqual(one.isRead ? [UNITS] : [])
  })
})

/** Replaces extra field and payee of the block's coinbase transaction, which needs no signatures. */
function replaceCoinbase(block: Uint8Array, { extra, key }: Case): Uint8Array {
  const reader = createByteReader(block)
  // Versions and time, then the previous block and the nonce; then version, unlock time and input of the coinbase transaction.
  for (let n = 0; n < 3; n++) reader.varint()
  reader.take(36)
  for (let n = 0; n < 2; n++) reader.varint()
  expect([...reader.take(2)]).toEqual([1, 0xff])
  reader.varint()
  expect(reader.number()).toBe(1)
  reader.varint()
  const start = reader.at()
  const isTagged = reader.take(1)[0] === 3
  reader.take(isTagged ? 33 : 32)
  reader.take(reader.number())
  const { key: oneTimeKey, tag } = outputFor(key)
  const target = [Uint8Array.of(isTagged ? 3 : 2), oneTimeKey, isTagged ? Uint8Array.of(tag) : new Uint8Array()]
  const field = [varint(extra.length / 2), fromHex(extra)]
  return Buffer.concat([block.subarray(0, start), ...target, ...field, block.subarray(reader.at())])
}

describeWith('monerod', 'the wallet program on extra fields of any content', () => {
  let node: Awaited<ReturnType<typeof startPrivateNode>>
  beforeAll(async () => {
    node = await startPrivateNode()
  })
  afterAll(() => node?.stop())

  test('D47: reads the keys that our scan reads', async () => {
    const folder = join(node.folder, 'extra-fields')
    const session = createWalletSession({ keys, folder, daemonUrl: node.url, restoreHeight: 0 })
    const byHash = new Map<string, string>()
    for (const one of cases) {
      const template = await node.call('get_block_template', {
        wallet_address: createAddresses(keys).hot(),
        reserve_size: 1,
      })
      const block = replaceCoinbase(fromHex(String(template['blocktemplate_blob'])), one)
      await node.call('submit_block', [toHex(block)])
      const { block_header: header } = await node.call('get_last_block_header')
      byHash.set((header as { miner_tx_hash: string }).miner_tx_hash, one.what)
    }
    expect(byHash.size).toBe(cases.length)
    const outputs = await session.run((wallet) => wallet.outputs('slow'))
    await session.close()
    const read = [...outputs.values()].map(({ txHash }) => byHash.get(txHash)).sort()
    expect(read).toEqual(
      cases
        .filter(({ isRead }) => isRead)
        .map(({ what }) => what)
        .sort(),
    )
  })
})
