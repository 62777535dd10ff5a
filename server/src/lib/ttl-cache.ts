export type Recent<K, V> = Readonly<{
  get(key: K): V | undefined
  set(key: K, value: V): void
  delete(key: K): void
  clear(): void
}>

/** A bounded map whose entries grow old. Beyond `most` the oldest entry goes. */
export function createRecent<K, V>({ most, ageMs, now }: { most: number; ageMs: number; now(): number }): Recent<K, V> {
  const entries = new Map<K, { value: V; at: number }>()
  return {
    get: (key) => {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      if (now() - entry.at <= ageMs) return entry.value
      entries.delete(key)
      return undefined
    },
    set: (key, value) => {
      entries.delete(key)
      entries.set(key, { value, at: now() })
      if (entries.size <= most) return
      // A Map iterates in order of insertion.
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        break
      }
    },
    delete: (key) => {
      entries.delete(key)
    },
    clear: () => entries.clear(),
  }
}
