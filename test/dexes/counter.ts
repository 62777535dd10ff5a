/** Counts which states the random cases reach. */
export function createCounter() {
  const counts = new Map<string, number>()
  return {
    add(name: string): void {
      counts.set(name, (counts.get(name) ?? 0) + 1)
    },
    counts: () => Object.fromEntries(counts),
    /** Those of the states that no case reached. */
    missing: (names: readonly string[]) => names.filter((name) => !counts.has(name)),
  }
}
export type Counter = ReturnType<typeof createCounter>

/** JSON with bigints as texts, for the messages of failures. */
export const stringify = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
