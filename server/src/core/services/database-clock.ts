import { type Loop, startLoop } from '../../lib/loop.ts'

export type DatabaseClock = Readonly<{ now(): number; databaseNow(): number; stop(): Promise<void> }>

const SAMPLE_EVERY_MS = 60_000

/**
 * The database's clock as this process estimates it: its own clock plus the offset sampled last. The offset is measured at the
 * middle of the shortest of three round trips, so that a slow one does not distort it.
 */
export async function startDatabaseClock(
  read: () => Promise<Date>,
  onError: (error: unknown) => void,
): Promise<DatabaseClock> {
  let offsetMs = await sample(read)
  const loop: Loop = startLoop({
    paceMs: SAMPLE_EVERY_MS,
    backoffMs: SAMPLE_EVERY_MS,
    turn: async () => {
      offsetMs = await sample(read)
      return undefined
    },
    onError,
  })
  return { now: () => Date.now(), databaseNow: () => Date.now() + offsetMs, stop: loop.stop }
}

async function sample(read: () => Promise<Date>): Promise<number> {
  let best = { tripMs: Number.POSITIVE_INFINITY, offsetMs: 0 }
  for (let n = 0; n < 3; n++) {
    const before = Date.now()
    const there = await read()
    const after = Date.now()
    if (after - before < best.tripMs)
      best = { tripMs: after - before, offsetMs: Math.round(there.getTime() - (before + after) / 2) }
  }
  return best.offsetMs
}
