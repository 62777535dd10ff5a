import { hash } from 'node:crypto'

/** A set of ids that takes about 16 bytes each, by 64 bits of their hash: `mayHave` is wrongly true for one of 10^12. */
export type IdSet = Readonly<{ add(id: string): void; mayHave(id: string): boolean }>

const CAPACITY_MIN = 1_024

/** Open addressing with linear probing (Knuth, TAOCP 6.4). Pairs of 32-bit words; a pair of zeros is free. */
export function createIdSet(): IdSet {
  let words = new Uint32Array(2 * CAPACITY_MIN)
  let size = 0

  function read(id: string): readonly [number, number] {
    const digest = hash('sha256', id, 'buffer')
    // Never a pair of zeros.
    return [digest.readUInt32LE(0) | 1, digest.readUInt32LE(4)]
  }

  /** The slot of the pair, or the free slot where it belongs. */
  function findSlot(table: Uint32Array, first: number, second: number): number {
    const mask = table.length / 2 - 1
    for (let n = second & mask; ; n = (n + 1) & mask) {
      if (table[2 * n] === 0) return n
      if (table[2 * n] === first >>> 0 && table[2 * n + 1] === second) return n
    }
  }

  function grow(): void {
    const larger = new Uint32Array(words.length * 2)
    for (let n = 0; n < words.length; n += 2) {
      const [first = 0, second = 0] = words.subarray(n, n + 2)
      if (first !== 0) larger.set([first, second], 2 * findSlot(larger, first, second))
    }
    words = larger
  }

  return {
    add(id) {
      const [first, second] = read(id)
      const slot = findSlot(words, first, second)
      if (words[2 * slot] !== 0) return
      words.set([first, second], 2 * slot)
      size++
      if (size * 2 > words.length / 2) grow()
    },
    mayHave(id) {
      const [first, second] = read(id)
      return words[2 * findSlot(words, first, second)] !== 0
    },
  }
}
