import { afterEach, expect, test, vi } from 'vitest'
import { type DatabaseClock, startDatabaseClock } from './database-clock.ts'

const MINUTES_MS = 60_000
const DATABASE_MS = Date.UTC(2026, 0, 1)

let clock: DatabaseClock | null = null
afterEach(async () => {
  vi.useRealTimers()
  await clock?.stop()
})

/** A process whose clock is wrong by `offMs`. Each read takes `tripMs` of it, half of that before the database reads its clock. */
async function start(offMs: number, tripsMs: readonly number[]): Promise<DatabaseClock> {
  vi.useFakeTimers({ toFake: ['Date'], now: DATABASE_MS + offMs })
  const left = [...tripsMs]
  const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)
  const read = async () => {
    const tripMs = left.shift() ?? 0
    pass(tripMs / 2)
    const at = new Date(Date.now() - offMs)
    pass(tripMs / 2)
    return at
  }
  clock = await startDatabaseClock(read, (error) => {
    throw error
  })
  return clock
}

test.each([10 * MINUTES_MS, -10 * MINUTES_MS])(
  'F20: tells the time of the database although the clock of the process is off by %i ms',
  async (offMs) => {
    const { now, databaseNow } = await start(offMs, [20, 20, 20])
    expect(databaseNow()).toBe(DATABASE_MS + 60)
    expect(now()).toBe(DATABASE_MS + offMs + 60)
    vi.setSystemTime(Date.now() + 90_000)
    expect(databaseNow()).toBe(DATABASE_MS + 90_060)
  },
)

test('uses the shortest of three round trips', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: DATABASE_MS })
  // The first and the last answer lie ten seconds at the network before they arrive.
  const delaysMs = [10_000, 0, 10_000]
  const read = async () => {
    const at = new Date(Date.now() - 500)
    vi.setSystemTime(Date.now() + (delaysMs.shift() ?? 0))
    return at
  }
  clock = await startDatabaseClock(read, () => undefined)
  expect(clock.databaseNow() - Date.now()).toBe(-500)
})
