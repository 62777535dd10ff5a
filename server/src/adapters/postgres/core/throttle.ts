import type { Throttle } from '../../../core/ports/throttle.ts'
import { startLoop } from '../../../lib/loop.ts'
import type { Database } from './database.ts'

const WINDOW_MS = 60_000
/** Pace at which the processes exchange their counts through the database. */
const SYNC_MS = 100
const KEYS_MAX = 50_000

type Count = { minute: number; spent: number; unsent: number }

/**
 * One budget per key and minute over all processes. A request is counted in memory at once; every 100 ms each process adds
 * its new counts to the database and reads the sums. So a key can exceed its limit by what the other processes allow in
 * that time: at most (processes − 1) × its requests of 100 ms.
 */
export function createThrottle({
  database,
  now = Date.now,
  onError,
}: {
  database: Database
  now?: () => number
  onError(error: unknown): void
}): Throttle & { close(): Promise<void> } {
  const counts = new Map<string, Count>()
  let cleanedAt = 0

  async function sync(): Promise<undefined> {
    const minute = minuteOf(now())
    const unsentCounts = [...counts].filter(([, count]) => count.unsent > 0 && count.minute === minute)
    for (const [key, count] of counts) if (count.minute !== minute) counts.delete(key)
    if (unsentCounts.length > 0) {
      const sent = unsentCounts.map(([, count]) => count.unsent)
      for (const [, count] of unsentCounts) count.unsent = 0
      const rows = await database.query<{ key: string; cost: string }>(
        `insert into spent as s (key, minute, cost) select k.key, to_timestamp($3), k.cost from unnest($1::text[], $2::bigint[]) as k (key, cost)
         order by k.key on conflict (key, minute) do update set cost = s.cost + excluded.cost returning key, cost`,
        [unsentCounts.map(([key]) => key), sent, (minute * WINDOW_MS) / 1000],
      )
      for (const { key, cost } of rows) {
        const count = counts.get(key)
        if (count?.minute === minute) count.spent = Number(cost) + count.unsent
      }
    }
    if (minute !== cleanedAt) {
      cleanedAt = minute
      await database.query("delete from spent where minute < clock_timestamp() - interval '2 minutes'")
    }
    return undefined
  }

  const loop = startLoop({ paceMs: SYNC_MS, backoffMs: 5_000, turn: sync, onError })
  return {
    take: (key, cost, limit) => {
      const minute = minuteOf(now())
      let count = counts.get(key)
      if (count?.minute !== minute) {
        // The oldest entry, and not all of them: many callers must not give every other one a new budget (M27.10).
        if (counts.size >= KEYS_MAX) counts.delete(counts.keys().next().value ?? key)
        count = { minute, spent: 0, unsent: 0 }
        counts.set(key, count)
      }
      const allowed = count.spent + cost <= limit
      if (allowed) {
        count.spent += cost
        count.unsent += cost
      }
      return {
        allowed,
        limit,
        remaining: Math.max(0, limit - count.spent),
        resetSeconds: Math.ceil(((minute + 1) * WINDOW_MS - now()) / 1000),
      }
    },
    close: () => loop.stop(),
  }
}

const minuteOf = (ms: number): number => Math.floor(ms / WINDOW_MS)
