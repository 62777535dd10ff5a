import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  bytesOf,
  keccak,
  readPoint,
  times,
  timesBase,
  toScalar,
} from '../../../../src/adapters/chains/monero/ed25519.ts'
import { varint } from '../../../../src/adapters/chains/monero/keys.ts'
import { findOutputs } from '../../../../src/adapters/chains/monero/scan.ts'
import { fromHex, parseTransaction } from '../../../../src/adapters/chains/monero/transaction.ts'
import { present } from '../../../../src/lib/assert.ts'
import { type Case, cases, keys, outputFor } from './extra-cases.ts'

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
