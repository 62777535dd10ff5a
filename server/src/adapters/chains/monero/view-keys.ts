import type { ViewKeys } from '../../../exchange/ports/signer.ts'
import { bytesOf, keccak, type Scalar, scalarBytes, timesBase, toScalar } from './ed25519.ts'

/** The secret spend key, derived from a key of our seed. */
export function spendKeyOf(seedKey: Uint8Array): Scalar {
  return toScalar(keccak(seedKey))
}

/** Derives the view key from the spend key as Monero's own wallets do, so that they can restore our wallet. */
export function viewKeysOf(spendKey: Scalar): ViewKeys {
  return { view: scalarBytes(toScalar(keccak(bytesOf(spendKey, 32)))), spend: timesBase(spendKey).toBytes() }
}
