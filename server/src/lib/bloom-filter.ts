/** A set that may say yes by mistake, never no. `among` = those of the texts that it may have, in their order. */
export type BloomFilter = Readonly<{
  add(texts: readonly string[]): void
  among(texts: readonly string[]): readonly string[]
}>

/** Of memory for each text, and looked at for each question: one in 2000 is a wrong yes (Bloom 1970). */
const BITS_A_TEXT = 16
const PROBES = 6
const ROOM_MIN = 1_024

/** Grows as it fills: each further part has twice the room of the one before. `expected` texts cost one part. */
export function createBloomFilter(expected: number): BloomFilter {
  const parts = [createPart(Math.max(ROOM_MIN, expected))]
  return {
    add: (texts) => {
      const hashes = hashAll(texts)
      for (const index of texts.keys()) {
        if (parts[parts.length - 1]?.add(hashes, index)) continue
        const next = createPart(2 ** (parts.length - 1) * 2 * Math.max(ROOM_MIN, expected))
        next.add(hashes, index)
        parts.push(next)
      }
    },
    among: (texts) => {
      const hashes = hashAll(texts)
      const found = new Uint8Array(texts.length)
      for (const part of parts) part.mark(hashes, found)
      return texts.filter((_, at) => found[at] === 1)
    },
  }
}

/** Two of each text. */
type Hashes = Readonly<{ ones: Int32Array; twos: Int32Array }>

function hashAll(texts: readonly string[]): Hashes {
  const ones = new Int32Array(texts.length)
  const twos = new Int32Array(texts.length)
  for (const [index, text] of texts.entries()) {
    let one = 0x811c9dc5
    let two = 0x9747b28c
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      one = Math.imul(one ^ unit, 0x01000193)
      two = Math.imul(two ^ unit, 0x5bd1e995) ^ (two >>> 15)
    }
    ones[index] = one ^ (one >>> 16)
    twos[index] = (two ^ (two >>> 13)) | 1
  }
  return { ones, twos }
}

type Part = Readonly<{
  /** Whether there was room. */
  add(hashes: Hashes, index: number): boolean
  /** Sets the 1 of every text that may be there. */
  mark(hashes: Hashes, found: Uint8Array): void
}>

function createPart(room: number): Part {
  // A power of two: a probe is a mask, no division.
  const bits = 2 ** Math.ceil(Math.log2(room * BITS_A_TEXT))
  const words = new Uint32Array(bits / 32)
  let left = room
  /** The probes of double hashing (Kirsch and Mitzenmacher 2006). */
  const placeOf = ({ ones, twos }: Hashes, index: number, turn: number) =>
    ((ones[index] ?? 0) + Math.imul(turn, twos[index] ?? 0)) & (bits - 1)
  const bitAt = (place: number) => ((words[place >>> 5] ?? 0) >>> (place & 31)) & 1
  const hasRest = (hashes: Hashes, index: number) => {
    for (let turn = 1; turn < PROBES; turn++) if (bitAt(placeOf(hashes, index, turn)) === 0) return false
    return true
  }
  return {
    add: (hashes, index) => {
      if (left === 0) return false
      left -= 1
      for (let turn = 0; turn < PROBES; turn++) {
        const place = placeOf(hashes, index, turn)
        words[place >>> 5] = (words[place >>> 5] ?? 0) | (1 << (place & 31))
      }
      return true
    },
    mark: (hashes, found) => {
      const { ones } = hashes
      const first = new Uint8Array(ones.length)
      // The first probe of all, with no branch: the memory that a large filter lies in is then asked for many at once.
      for (let index = 0; index < first.length; index++) first[index] = bitAt((ones[index] ?? 0) & (bits - 1))
      for (let index = 0; index < first.length; index++)
        if (first[index] === 1 && hasRest(hashes, index)) found[index] = 1
    },
  }
}
