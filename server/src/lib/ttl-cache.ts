import { LRUCache } from 'lru-cache'

export type TtlCache<K extends string, V extends object | true> = Pick<
  LRUCache<K, V>,
  'get' | 'set' | 'delete' | 'clear'
>

/** A bounded map whose entries expire `ttlMs` after they were set. Above `max` the least recently used entry is removed. */
export function createTtlCache<K extends string, V extends object | true>({
  max,
  ttlMs,
  now,
}: {
  max: number
  ttlMs: number
  now(): number
}): TtlCache<K, V> {
  // The library treats a start at 0 as unset and caches the time for 1 ms; the clocks of tests need neither.
  return new LRUCache({ max, ttl: ttlMs, ttlResolution: 0, perf: { now: () => now() + 1 } })
}
