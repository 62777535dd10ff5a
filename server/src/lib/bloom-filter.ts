/** A set that may say yes by mistake, never no. */
export type BloomFilter = Readonly<{ add(text: string): void; mayHave(text: string): boolean }>

/** Of memory for each text, and looked at for each question: one in 2000 is a wrong yes (Bloom 1970). */
const BITS_A_TEXT = 16
const PROBES = 6
const ROOM_MIN = 1_024

/** Grows as it fills: each further part has twice the room of the one before. `expected` texts cost one part. */
export function createBloomFilter(expected: number): BloomFilter {
  const parts = [createPart(Math.max(ROOM_MIN, expected))]
  return {
    add: (text) => {
      const last = parts[parts.length - 1]
      if (last?.add(text)) return
      const next = createPart(2 ** (parts.length - 1) * 2 * Math.max(ROOM_MIN, expected))
      next.add(text)
      parts.push(next)
    },
    mayHave: (text) => parts.some((part) => part.has(text)),
  }
}

/** `add` says whether there was room. */
function createPart(room: number): { add(text: string): boolean; has(text: string): boolean } {
  // A power of two: a probe is a mask, no division.
  const bits = 2 ** Math.ceil(Math.log2(room * BITS_A_TEXT))
  const words = new Uint32Array(bits / 32)
  let left = room
  /** The probes of double hashing (Kirsch and Mitzenmacher 2006); stops where `visit` says so. */
  const probe = (text: string, visit: (word: number, bit: number) => boolean): boolean => {
    let one = 0x811c9dc5
    let two = 0x9747b28c
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      one = Math.imul(one ^ unit, 0x01000193)
      two = Math.imul(two ^ unit, 0x5bd1e995) ^ (two >>> 15)
    }
    one ^= one >>> 16
    two = (two ^ (two >>> 13)) | 1
    for (let turn = 0; turn < PROBES; turn++) {
      const at = (one + Math.imul(turn, two)) & (bits - 1)
      if (!visit(at >>> 5, 1 << (at & 31))) return false
    }
    return true
  }
  return {
    add: (text) => {
      if (left === 0) return false
      left -= 1
      return probe(text, (word, bit) => {
        words[word] = (words[word] ?? 0) | bit
        return true
      })
    },
    has: (text) => probe(text, (word, bit) => ((words[word] ?? 0) & bit) !== 0),
  }
}
