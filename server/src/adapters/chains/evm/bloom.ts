import { type Hex, hexToBytes, keccak256 } from 'viem'

const BLOOM_BYTES = 256

/** Whether a block's bloom filter (yellow paper, 4.3.1) may contain a contract or topic. False positives occur. */
export function mayContain(bloom: Hex | null, value: Hex): boolean {
  if (bloom === null) return false
  const bits = hexToBytes(bloom)
  const digest = hexToBytes(keccak256(value))
  return (
    bits.length === BLOOM_BYTES &&
    [0, 2, 4].every((n) => {
      const bit = (((digest[n] ?? 0) << 8) | (digest[n + 1] ?? 0)) % (BLOOM_BYTES * 8)
      return ((bits[BLOOM_BYTES - 1 - (bit >> 3)] ?? 0) >> (bit & 7)) % 2 === 1
    })
  )
}
