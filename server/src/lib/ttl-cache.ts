import { LRUCache } from 'lru-cache'

export type TtlCache<K extends string, V extends object | true> = Pick<
  LRUCache<K, V>,
  'get' | 'set' | 'delete' | 'clear'
>

/** A bounded map whose entries expire `ttlMs` after they were set. Above `max` the least recently used entry goes. */
export function createTtlCache<K extends string, V extends object | true>({
  max,
  ttlMs,
  now,
}: {
  max: number
  ttlMs: number
  now(): number
}): TtlCache<K, V> {
  // The library takes a start at 0 for no start, and by default keeps a time for a millisecond: a test's clock needs both.
  return new LRUCache({ max, ttl: ttlMs, ttlResolution: 0, perf: { now: () => now() + 1 } })
}
