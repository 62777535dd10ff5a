import { createTimedValue } from '../../lib/timed-value.ts'
import { decimalsOf, formatSigned } from '../actions/lookup.ts'
import type { AdminStore } from '../ports/admin-store.ts'

const SUMS_MS = 60_000
const DAY_MS = 86_400_000
const GROUPS_MAX = 1_000

export type Sums = Readonly<{
  lastDay: Awaited<ReturnType<AdminStore['lists']['lastDay']>>
  revenue: Readonly<Record<string, string>>
}>

/** The sums read many rows: once a minute in a process. */
export const createSums = () => createTimedValue<Sums, [AdminStore]>(SUMS_MS, Date.now, readSums)

async function readSums(store: AdminStore): Promise<Sums> {
  const lastDay = await store.lists.lastDay()
  const from = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
  const rows = await store.store.reports.revenue({ from, to: new Date(from.getTime() + DAY_MS) }, 'day', GROUPS_MAX)
  const revenue: Record<string, string> = {}
  for (const { assetId, spread } of rows) {
    const places = await decimalsOf(store, assetId)
    revenue[assetId] = formatSigned(spread, places)
  }
  return { lastDay, revenue }
}
