import type { ViewKeys } from '../../../exchange/ports/signer.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { assert, present } from '../../../lib/assert.ts'
import { bytesOf, keccak, littleEndian, readPoint, type Scalar, times, timesBase, toScalar } from './ed25519.ts'
import { spendKeyOf } from './view-keys.ts'

export type Point = NonNullable<ReturnType<typeof readPoint>>

/** The house's one wallet on a network. `spend` is null where only addresses are shown. */
export type WalletKeys = Readonly<{ view: Scalar; spendPoint: Point; spend: Scalar | null }>

export function createWalletKeys({ view, spend }: ViewKeys, seedKey: Uint8Array | null): WalletKeys {
  const spendPoint = present(readPoint(spend), 'the public spend key')
  const secret = seedKey === null ? null : spendKeyOf(seedKey)
  assert(secret === null || timesBase(secret).equals(spendPoint), 'the keystore holds both halves of one key')
  return { view: littleEndian(view), spendPoint, spend: secret }
}

/** Account and index of a subaddress; 0/0 is the wallet's own address, where change returns to. */
export type Subaddress = Readonly<{ account: number; index: number }>

/**
 * Deposits are subaddresses of the first account, as only what lies in one account is spent together. Addresses of the
 * change branch are in the second: nothing is ever paid to them, as the wallet brings change to the first address.
 */
export function subaddressOf({ branch, index }: KeyPath): Subaddress {
  if (branch === 'hot') return { account: 0, index: 0 }
  return branch === 'deposit' ? { account: 0, index: index + 1 } : { account: 1, index }
}

const LABEL = Buffer.from('SubAddr\0')

/** What a subaddress adds to the spend key (Monero, MRL-0006). */
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

/** What sender and recipient share of one transaction, in its two halves: their own secret, the other's public key. */
export function derive(publicKey: Point, secret: Scalar): Uint8Array {
  return times(publicKey, secret).clearCofactor().toBytes()
}

/** What they share of one output. */
export function outputSecret(shared: Uint8Array, vout: number): Scalar {
  return toScalar(keccak(shared, varint(vout)))
}

const VIEW_TAG = Buffer.from('view_tag')

/** One byte that tells the recipient of most outputs that they are not his. */
export function viewTag(shared: Uint8Array, vout: number): number {
  return keccak(VIEW_TAG, shared, varint(vout))[0] ?? 0
}

export function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return Uint8Array.of(...bytes, rest)
}
