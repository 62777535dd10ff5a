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
    for (let n = 0; n < count; n++) filter.add(address(n))
    for (let n = 0; n < count; n++) expect(filter.mayHave(address(n))).toBe(true)
    let wrong = 0
    for (let n = count; n < 2 * count; n++) if (filter.mayHave(address(n))) wrong += 1
    expect(wrong / count).toBeLessThan(0.01)
  })

  test('an empty one has nothing', () => {
    expect(createBloomFilter(0).mayHave(address(1))).toBe(false)
  })

  test('texts that differ at one place are told apart', () => {
    const filter = createBloomFilter(0)
    for (let n = 0; n < 500; n++) filter.add(`bcrt1q${'0'.repeat(30)}${n}`)
    let wrong = 0
    for (let n = 500; n < 10_500; n++) if (filter.mayHave(`bcrt1q${'0'.repeat(30)}${n}`)) wrong += 1
    expect(wrong).toBeLessThan(100)
  })
})
