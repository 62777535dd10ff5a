import { keccak, littleEndian } from './ed25519.ts'

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
  /** Public keys of the transaction; `outputKeys`: additional keys, one per output. */
  publicKeys: readonly Uint8Array[]
  outputKeys: readonly Uint8Array[]
}>

/** RingCT types with eight-byte amounts: Bulletproof2, CLSAG, Bulletproof+ (rctTypes.h). Older types can no longer be mined. */
const RCT_TYPES: readonly number[] = [4, 5, 6]
const VERSION = 2
const TAG = { inputToKey: 0x02, outputToKey: 0x02, outputToTaggedKey: 0x03 } as const
const EXTRA = { padding: 0x00, publicKey: 0x01, nonce: 0x02, merge: 0x03, outputKeys: 0x04 } as const
/** Bounds lists against malformed bytes; above the number of inputs or outputs that fit into a block. */
const COUNT_MAX = 10_000

class UnreadableError extends Error {}

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
  const inputs = list(reader.number(), () => readInput(reader))
  const outputs = list(reader.number(), () => readTarget(reader))
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

function list<T>(count: number, one: () => T): T[] {
  if (count > COUNT_MAX) throw new UnreadableError('too many')
  return Array.from({ length: count }, one)
}

function readInput(reader: ByteReader): { keyImage: string; ring: readonly bigint[] } {
  if (reader.take(1)[0] !== TAG.inputToKey) throw new UnreadableError('an input of another kind')
  reader.varint()
  let output = 0n
  // Ring members are encoded as differences.
  const ring = list(reader.number(), () => {
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

/** The public keys of the extra field. Stops at the first unreadable tag, as Monero's own wallets do. */
function readExtra(extra: Uint8Array): Pick<Transaction, 'publicKeys' | 'outputKeys'> {
  const reader = createByteReader(extra)
  const publicKeys: Uint8Array[] = []
  let outputKeys: Uint8Array[] = []
  try {
    while (reader.at() < extra.length) {
      const tag = reader.take(1)[0]
      if (tag === EXTRA.padding) break
      if (tag === EXTRA.publicKey) publicKeys.push(reader.take(32))
      else if (tag === EXTRA.outputKeys) outputKeys = list(reader.number(), () => reader.take(32))
      else if (tag === EXTRA.nonce || tag === EXTRA.merge) reader.take(reader.number())
      else break
    }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
  }
  return { publicKeys, outputKeys }
}

type ByteReader = ReturnType<typeof createByteReader>

function createByteReader(bytes: Uint8Array) {
  let at = 0
  const take = (count: number): Uint8Array => {
    if (count > bytes.length - at) throw new UnreadableError('unexpected end')
    at += count
    return bytes.subarray(at - count, at)
  }
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = take(1)[0] ?? 0
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new UnreadableError('a varint is too long')
  }
  const number = (): number => {
    const value = varint()
    if (value > 0xff_ff_ff_ffn) throw new UnreadableError('a count is too large')
    return Number(value)
  }
  return { take, varint, number, at: () => at }
}

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
export const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))

/** Decrypts an amount: XOR with the mask that sender and recipient share. */
export function unmask(amount: Uint8Array, mask: Uint8Array): bigint {
  return littleEndian(amount) ^ littleEndian(mask.subarray(0, 8))
}
