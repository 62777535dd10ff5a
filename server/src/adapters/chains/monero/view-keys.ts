import type { ViewKeys } from '../../../exchange/ports/signer.ts'
import { bytesOf, keccak, type Scalar, scalarBytes, timesBase, toScalar } from './ed25519.ts'

/** The secret spend key that follows from a key of the house's seed. */
export function spendKeyOf(seedKey: Uint8Array): Scalar {
  return toScalar(keccak(seedKey))
}

/** The view key follows from the spend key as in Monero's own wallets, so that any of them restores ours. */
export function viewKeysOf(spendKey: Scalar): ViewKeys {
  return { view: scalarBytes(toScalar(keccak(bytesOf(spendKey, 32)))), spend: timesBase(spendKey).toBytes() }
}
