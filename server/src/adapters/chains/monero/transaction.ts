import { type ByteReader, createByteReader, readItems, UnreadableError } from './byte-reader.ts'
import { keccak, littleEndian } from './ed25519.ts'
import { type ExtraKeys, readExtra } from './extra.ts'

export type Output = Readonly<{
  vout: number
  /** The one-time public key. */
  key: string
  viewTag: number | null
  /** Encrypted for the recipient; `commitment` commits to it. */
  amount: Uint8Array
  commitment: Uint8Array
}>

/** A transaction of version 2 (RingCT): all since 2017 except coinbase. */
export type Transaction = Readonly<{
  txHash: string
  unlockTime: bigint
  keyImages: readonly string[]
  /** For each input, the global indices of its ring members. */
  rings: readonly (readonly bigint[])[]
  outputs: readonly Output[]
  feeUnits: bigint
}> &
  ExtraKeys

/** RingCT types with eight-byte amounts: Bulletproof2, CLSAG, Bulletproof+ (rctTypes.h). Older types can no longer be mined. */
const RCT_TYPES: readonly number[] = [4, 5, 6]
const VERSION = 2
const TAG = { inputToKey: 0x02, outputToKey: 0x02, outputToTaggedKey: 0x03 } as const

/** Null for any other bytes, coinbase included. `prunableHash` is set if the bytes lack the prunable part. */
export function parseTransaction(bytes: Uint8Array, prunableHash: Uint8Array | null): Transaction | null {
  try {
    return read(bytes, prunableHash)
  } catch (error) {
    if (error instanceof UnreadableError) return null
    throw error
  }
}

function read(bytes: Uint8Array, prunableHash: Uint8Array | null): Transaction {
  const reader = createByteReader(bytes)
  if (reader.number() !== VERSION) throw new UnreadableError('another version')
  const unlockTime = reader.varint()
  const inputs = readItems(reader.number(), () => readInput(reader))
  const outputs = readItems(reader.number(), () => readTarget(reader))
  const extra = reader.take(reader.number())
  const prefixEnd = reader.at()
  const kind = reader.take(1)[0] ?? 0
  if (!RCT_TYPES.includes(kind)) throw new UnreadableError('another kind of signatures')
  const feeUnits = reader.varint()
  const amounts = outputs.map(() => reader.take(8))
  const commitments = outputs.map(() => reader.take(32))
  const baseEnd = reader.at()
  const hashes = [
    keccak(bytes.subarray(0, prefixEnd)),
    keccak(bytes.subarray(prefixEnd, baseEnd)),
    prunableHash ?? keccak(bytes.subarray(baseEnd)),
  ]
  return {
    txHash: toHex(keccak(...hashes)),
    unlockTime,
    keyImages: inputs.map(({ keyImage }) => keyImage),
    rings: inputs.map(({ ring }) => ring),
    outputs: outputs.map((output, vout) => ({
      ...output,
      vout,
      amount: amounts[vout] ?? new Uint8Array(8),
      commitment: commitments[vout] ?? new Uint8Array(32),
    })),
    feeUnits,
    ...readExtra(extra),
  }
}

function readInput(reader: ByteReader): { keyImage: string; ring: readonly bigint[] } {
  if (reader.take(1)[0] !== TAG.inputToKey) throw new UnreadableError('an input of another kind')
  reader.varint()
  let output = 0n
  // Ring members are encoded as differences.
  const ring = readItems(reader.number(), () => {
    output += reader.varint()
    return output
  })
  return { keyImage: toHex(reader.take(32)), ring }
}

function readTarget(reader: ByteReader): { key: string; viewTag: number | null } {
  reader.varint()
  const tag = reader.take(1)[0]
  const key = toHex(reader.take(32))
  if (tag === TAG.outputToKey) return { key, viewTag: null }
  if (tag !== TAG.outputToTaggedKey) throw new UnreadableError('an output of another kind')
  return { key, viewTag: reader.take(1)[0] ?? 0 }
}

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
export const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))

/** Decrypts an amount: XOR with the mask that sender and recipient share. */
export function unmask(amount: Uint8Array, mask: Uint8Array): bigint {
  return littleEndian(amount) ^ littleEndian(mask.subarray(0, 8))
}
