import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createBloomFilter } from './bloom-filter.ts'

const address = (n: number) => `0x${createHash('sha256').update(String(n)).digest('hex').slice(0, 40)}`

describe('a Bloom filter', () => {
  test.each([
    ['as many as were expected', 20_000, 20_000],
    ['far more', 0, 20_000],
  ])('knows every text, and few others: %s', (_name, expected, count) => {
    const filter = createBloomFilter(expected)
    const known = Array.from({ length: count }, (_, n) => address(n))
    filter.add(known.slice(0, 7))
    filter.add(known.slice(7))
    const others = Array.from({ length: count }, (_, n) => address(count + n))
    expect(filter.among(known)).toEqual(known)
    expect(filter.among(others).length / count).toBeLessThan(0.01)
    const mixed = known.flatMap((one, n) => [others[n] ?? '', one])
    expect(new Set(filter.among(mixed))).toEqual(new Set([...known, ...filter.among(others)]))
  })

  test('an empty one has nothing', () => {
    expect(createBloomFilter(0).among([address(1), ''])).toEqual([])
    expect(createBloomFilter(0).among([])).toEqual([])
  })

  test('texts that differ at one place are told apart', () => {
    const filter = createBloomFilter(0)
    filter.add(Array.from({ length: 500 }, (_, n) => `bcrt1q${'0'.repeat(30)}${n}`))
    const others = Array.from({ length: 10_000 }, (_, n) => `bcrt1q${'0'.repeat(30)}${500 + n}`)
    expect(filter.among(others).length).toBeLessThan(100)
  })
})
