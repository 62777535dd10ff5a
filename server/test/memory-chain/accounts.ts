/** A value and the block that set it, oldest first. */
type Versions<T> = { height: number; value: T }[]

/** Values by key and block height: a reorganisation rolls blocks back, and a lagging node reads older values. */
export type History<T> = Readonly<{
  at(key: string, height: number): T
  set(key: string, height: number, value: T): void
  /** Deletes the versions of these keys at `height` and above. */
  rollback(keys: Iterable<string>, height: number): void
  /** A copy of the latest values; later changes do not affect it. */
  snapshot(): (key: string) => T
}>

export function createHistory<T>(initial: T): History<T> {
  const versionsByKey = new Map<string, Versions<T>>()
  return {
    at(key, height) {
      const versions = versionsByKey.get(key) ?? []
      for (let n = versions.length - 1; n >= 0; n--) {
        const version = versions[n]
        if (version && version.height <= height) return version.value
      }
      return initial
    },
    set(key, height, value) {
      const versions = versionsByKey.get(key)
      const last = versions?.at(-1)
      if (!versions) versionsByKey.set(key, [{ height, value }])
      else if (last?.height === height) last.value = value
      else versions.push({ height, value })
    },
    rollback(keys, height) {
      for (const key of keys) {
        const versions = versionsByKey.get(key)
        while (versions?.length && (versions.at(-1)?.height ?? -1) >= height) versions.pop()
        if (versions?.length === 0) versionsByKey.delete(key)
      }
    },
    snapshot() {
      const values = new Map([...versionsByKey].map(([key, versions]) => [key, versions.at(-1)?.value ?? initial]))
      return (key) => values.get(key) ?? initial
    },
  }
}

export function balanceKey(address: string, contract: string | null): string {
  return contract === null ? address : `${address}/${contract}`
}
