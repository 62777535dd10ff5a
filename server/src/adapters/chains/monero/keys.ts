import type { ViewKeys } from '../../../exchange/ports/signer.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { assert, present } from '../../../lib/assert.ts'
import { bytesOf, keccak, littleEndian, readPoint, type Scalar, times, timesBase, toScalar } from './ed25519.ts'
import { spendKeyOf } from './view-keys.ts'

export type Point = NonNullable<ReturnType<typeof readPoint>>

/** The keys of our wallet on a network. `spend` is null in a process without the seed, which only derives addresses. */
export type WalletKeys = Readonly<{ view: Scalar; spendPoint: Point; spend: Scalar | null }>

export function createWalletKeys({ view, spend }: ViewKeys, seedKey: Uint8Array | null): WalletKeys {
  const spendPoint = present(readPoint(spend), 'the public spend key')
  const secret = seedKey === null ? null : spendKeyOf(seedKey)
  assert(
    secret === null || timesBase(secret).equals(spendPoint),
    'the seed key matches the public spend key of the keystore',
  )
  return { view: littleEndian(view), spendPoint, spend: secret }
}

/** Account and index of a subaddress; 0/0 is the primary address, which receives the change. */
export type Subaddress = Readonly<{ account: number; index: number }>

/**
 * Deposits are subaddresses of account 0, because a transaction spends outputs of one account only. The change branch is
 * account 1 and stays unused, because the wallet sends change to the primary address.
 */
export function subaddressOf({ branch, index }: KeyPath): Subaddress {
  if (branch === 'hot') return { account: 0, index: 0 }
  return branch === 'deposit' ? { account: 0, index: index + 1 } : { account: 1, index }
}

const LABEL = Buffer.from('SubAddr\0')

/** The offset that a subaddress adds to the spend key (MRL-0006). */
export function offsetOf(view: Scalar, { account, index }: Subaddress): Scalar {
  if (account === 0 && index === 0) return 0n
  return toScalar(keccak(LABEL, bytesOf(view, 32), bytesOf(BigInt(account), 4), bytesOf(BigInt(index), 4)))
}

/** The public keys of one of our addresses. */
export function publicKeysAt(keys: WalletKeys, at: Subaddress): { spend: Point; view: Point } {
  if (at.account === 0 && at.index === 0) return { spend: keys.spendPoint, view: timesBase(keys.view) }
  const spend = keys.spendPoint.add(timesBase(offsetOf(keys.view, at)))
  return { spend, view: times(spend, keys.view) }
}

/** The key derivation that sender and recipient share: one's secret key times the other's public key. */
export function derive(publicKey: Point, secret: Scalar): Uint8Array {
  return times(publicKey, secret).clearCofactor().toBytes()
}

/** The shared secret of one output. */
export function outputSecret(shared: Uint8Array, vout: number): Scalar {
  return toScalar(keccak(shared, varint(vout)))
}

const VIEW_TAG = Buffer.from('view_tag')

/** One byte by which a recipient skips 255 of 256 outputs of others. */
export function viewTag(shared: Uint8Array, vout: number): number {
  return keccak(VIEW_TAG, shared, varint(vout))[0] ?? 0
}

export function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return Uint8Array.of(...bytes, rest)
}
