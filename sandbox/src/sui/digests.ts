import { bcs } from '@mysten/sui/bcs'
import { fromBase58, toBase58, toHex } from '@mysten/sui/utils'
import { blake2b } from '@noble/hashes/blake2.js'

export type HashedName =
  | 'TransactionData'
  | 'TransactionEffects'
  | 'TransactionEvents'
  | 'Object'
  | 'CheckpointSummary'
  | 'CheckpointContents'

const digestBytes = 32
/** HashingIntentScope::RegularObjectId of the protocol. */
const objectIdScope = 0xf1

/** Blake2b-256 of the type's name, "::" and the BCS, in base58. */
export function computeDigest(name: HashedName, bytes: Uint8Array): string {
  const prefix = new TextEncoder().encode(`${name}::`)
  return toBase58(blake2b(Uint8Array.of(...prefix, ...bytes), { dkLen: digestBytes }))
}

/** The id of the object that a transaction creates as its `creation`-th, counted from 0. */
export function deriveCreatedId(transactionDigest: string, creation: number): string {
  const counter = bcs.U64.serialize(creation).toBytes()
  const bytes = Uint8Array.of(objectIdScope, ...fromBase58(transactionDigest), ...counter)
  return `0x${toHex(blake2b(bytes, { dkLen: digestBytes }))}`
}
