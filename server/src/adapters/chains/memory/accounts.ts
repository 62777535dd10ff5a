/** What a value was from which block on, oldest first. */
type History<T> = { height: number; value: T }[]

/** Values by key with their past: a block can be taken back, and a node that lags answers with what was. */
export type Timeline<T> = Readonly<{
  at(key: string, height: number): T
  set(key: string, height: number, value: T): void
  /** Forgets what these keys became at `height` or above. */
  takeBack(keys: Iterable<string>, height: number): void
  /** A copy that the world does not change any more. */
  freeze(): (key: string) => T
}>

export function createTimeline<T>(none: T): Timeline<T> {
  const histories = new Map<string, History<T>>()
  return {
    at(key, height) {
      const history = histories.get(key) ?? []
      for (let n = history.length - 1; n >= 0; n--) {
        const entry = history[n]
        if (entry && entry.height <= height) return entry.value
      }
      return none
    },
    set(key, height, value) {
      const history = histories.get(key)
      const last = history?.at(-1)
      if (!history) histories.set(key, [{ height, value }])
      else if (last?.height === height) last.value = value
      else history.push({ height, value })
    },
    takeBack(keys, height) {
      for (const key of keys) {
        const history = histories.get(key)
        while (history?.length && (history.at(-1)?.height ?? -1) >= height) history.pop()
        if (history?.length === 0) histories.delete(key)
      }
    },
    freeze() {
      const values = new Map([...histories].map(([key, history]) => [key, history.at(-1)?.value ?? none]))
      return (key) => values.get(key) ?? none
    },
  }
}

export function balanceKey(address: string, contract: string | null): string {
  return contract === null ? address : `${address}/${contract}`
}
