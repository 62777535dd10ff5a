export class UnreadableError extends Error {}

export type ByteReader = ReturnType<typeof createByteReader>

/** Above the number of inputs or outputs that fit into a block: bounds lists against malformed bytes. */
const COUNT_MAX = 10_000

/** Reads Monero's binary format. Throws an UnreadableError at bytes that Monero does not read either. */
export function createByteReader(bytes: Uint8Array) {
  let at = 0
  const take = (count: number): Uint8Array => {
    if (count > bytes.length - at) throw new UnreadableError('unexpected end')
    at += count
    return bytes.subarray(at - count, at)
  }
  /** 64 bits in the shortest form (varint.h: read_varint). */
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = take(1)[0] ?? 0
      if (shift === 63n && byte > 1) throw new UnreadableError('a varint is too large')
      if (byte === 0 && shift > 0n) throw new UnreadableError('a varint is too long')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const number = (): number => {
    const value = varint()
    if (value > 0xff_ff_ff_ffn) throw new UnreadableError('a count is too large')
    return Number(value)
  }
  return { take, varint, number, at: () => at, isAtEnd: () => at === bytes.length }
}

export function readItems<T>(count: number, one: () => T): T[] {
  if (count > COUNT_MAX) throw new UnreadableError('too many')
  return Array.from({ length: count }, one)
}
