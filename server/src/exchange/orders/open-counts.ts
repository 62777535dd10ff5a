import { createTtlCache } from '../../lib/ttl-cache.ts'

type CountOpen = (partnerId: string, most: number) => Promise<number>

/** Maximum age of a cached count. */
const AGE_MS = 1_000
const PARTNERS_MAX = 10_000

/**
 * Counts a partner's open exchanges, from the database at most once a second. Between reads, each call adds one, because the
 * caller is about to create an exchange. Creates by other processes in that second are missed, so the limit can be exceeded
 * by that many. A cached count rejects no create: at the limit, the count is read again.
 */
export function createOpenCounts({ countOpen, now }: { countOpen: CountOpen; now(): number }): CountOpen {
  const counts = createTtlCache<string, { open: number }>({ max: PARTNERS_MAX, ttlMs: AGE_MS, now })
  const reading = new Map<string, Promise<void>>()

  async function read(partnerId: string, most: number): Promise<void> {
    try {
      counts.set(partnerId, { open: await countOpen(partnerId, most) })
    } finally {
      reading.delete(partnerId)
    }
  }

  return async (partnerId, most) => {
    let cached = counts.get(partnerId)
    if (cached === undefined || cached.open >= most) {
      const running = reading.get(partnerId) ?? read(partnerId, most)
      reading.set(partnerId, running)
      await running
      cached = counts.get(partnerId)
    }
    if (cached === undefined) return countOpen(partnerId, most)
    const { open } = cached
    if (open < most) cached.open += 1
    return open
  }
}
