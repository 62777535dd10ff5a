/**
 * Runs the work once at a time per key. Calls during a run return at once and cause a single follow-up run. A failure is
 * reported to the caller of the run, who calls again for both.
 */
export function runSingly(work: (key: string) => Promise<void>): (key: string) => Promise<void> {
  /** Running keys, and whether a call came since the run began. */
  const asked = new Map<string, boolean>()
  return async (key) => {
    if (asked.has(key)) {
      asked.set(key, true)
      return
    }
    try {
      do {
        asked.set(key, false)
        await work(key)
      } while (asked.get(key))
    } finally {
      asked.delete(key)
    }
  }
}
