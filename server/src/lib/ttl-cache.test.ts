import { expect, test } from 'vitest'
import { createTtlCache } from './ttl-cache.ts'

test('entries expire after their time, counted from when they were set', () => {
  let now = 0
  const cache = createTtlCache<string, { n: number }>({ max: 10, ttlMs: 1_000, now: () => now })
  cache.set('a', { n: 1 })
  now = 1_000
  expect(cache.get('a')).toEqual({ n: 1 })
  now = 1_001
  expect(cache.get('a')).toBeUndefined()
  cache.set('a', { n: 2 })
  now = 2_000
  cache.set('a', { n: 3 })
  now = 3_000
  expect(cache.get('a')).toEqual({ n: 3 })
})

test('above its bound the least recently used entry goes', () => {
  const cache = createTtlCache<string, true>({ max: 2, ttlMs: 1_000, now: () => 0 })
  cache.set('a', true)
  cache.set('b', true)
  cache.get('a')
  cache.set('c', true)
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([true, undefined, true])
})
