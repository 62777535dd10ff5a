export type TimedValue<T, Source extends unknown[]> = Readonly<{
  /** Null before the first read. */
  value(): T | null
  /** Reads the value again if it is older than its time. */
  refresh(...source: Source): Promise<void>
}>

/** A value that is read again when it is older than `ms`. */
export function createTimedValue<T, Source extends unknown[] = []>(
  ms: number,
  now: () => number,
  read: (...source: Source) => Promise<T>,
): TimedValue<T, Source> {
  let current: Readonly<{ value: T; atMs: number }> | null = null
  return {
    value: () => current?.value ?? null,
    async refresh(...source) {
      if (current === null || now() - current.atMs >= ms) current = { value: await read(...source), atMs: now() }
    },
  }
}
