/* Members of accounts that several programs store in the same way. Integers are little-endian. */

export const readU128 = (data: Buffer, offset: number): bigint =>
  (data.readBigUInt64LE(offset + 8) << 64n) | data.readBigUInt64LE(offset)

/** Positions of set bits, the lowest bit of each byte first. */
export function readBits(data: Buffer, offset: number, length: number): number[] {
  const bits: number[] = []
  for (const [index, byte] of data.subarray(offset, offset + length).entries())
    for (let bit = 0; bit < 8; bit += 1) if ((byte & (1 << bit)) !== 0) bits.push(index * 8 + bit)
  return bits
}
