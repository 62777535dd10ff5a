import { createTtlCache } from '../../lib/ttl-cache.ts'

type CountOpen = (partnerId: string, most: number) => Promise<number>

/** A count is read again after this long. */
const AGE_MS = 1_000
const PARTNERS_MAX = 10_000

/**
 * The open exchanges of a partner, read once a second: in between, whoever asks is about to create one, and is counted on.
 * What other processes create in that second is not seen, so that a limit may be passed by as much; nobody is refused by
 * an old count, because at the limit it is read anew.
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
    let known = counts.get(partnerId)
    if (known === undefined || known.open >= most) {
      const running = reading.get(partnerId) ?? read(partnerId, most)
      reading.set(partnerId, running)
      await running
      known = counts.get(partnerId)
    }
    if (known === undefined) return countOpen(partnerId, most)
    const { open } = known
    if (open < most) known.open += 1
    return open
  }
}
