/**
 * The work, one run at a time for each key. Who asks while it runs waits for nobody and is answered by one more run after
 * it; where the run fails, the caller that it belongs to hears of it and asks again for both.
 */
export function runSingly(work: (key: string) => Promise<void>): (key: string) => Promise<void> {
  /** Of running keys: whether somebody asked since the run began. */
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
