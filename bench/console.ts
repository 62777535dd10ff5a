import { performance } from 'node:perf_hooks'
import { openDatabase } from '../server/src/adapters/postgres/core/database.ts'
import { createToken } from '../server/src/admin/identity/tokens.ts'
import { formatUnits } from '../server/src/core/domain/amount.ts'
import { OWED_PARTNER, seedAccountRows } from '../server/test/adapters/postgres/seed-account-rows.ts'
import { seedAdminRows, seededWebhook } from '../server/test/adapters/postgres/seed-admin-rows.ts'
import {
  LARGE_PARTNER,
  LARGE_UNITS,
  OLD_CURRENCY,
  seedCombinations,
} from '../server/test/adapters/postgres/seed-combinations.ts'
import { POSTINGS_PER_EXCHANGE, seedLedgerRows } from '../server/test/adapters/postgres/seed-ledger-rows.ts'
import type { App, Infrastructure } from './infrastructure.ts'
import { median, quantile } from './load.ts'
import type { Result } from './results.ts'
import { SEEDED_HASH, seedOperator, seedOperatorRows } from './seed-operators.ts'

/** Requests of each list, one after another: of all lists together fewer than the rate limit of a minute, 1200. */
const REQUESTS = 24
const LIST_GOAL_MS = 200
/** Requests of each report: it reads all postings of its period. */
const REPORT_REQUESTS = 5
const REPORT_DAYS = 30
const DAY_MS = 86_400_000
/** Of the operator's session. */
const TOKEN = createToken()
/** Partners, tokens in which fees are held or owed, and fees without a known partner, each. */
const ACCOUNTS = 10_000
/** Of the large partner, and of the failed exchanges of others, to each of the other exchanges. */
const [LARGE_SHARE, OTHERS_SHARE] = [0.3, 0.05]
const OLD = `${OLD_CURRENCY.currency}@${OLD_CURRENCY.network}`

/** The number of a finished exchange with a payout that was sent: two of every thousand payouts wait. */
const paidOf = (rows: number) => Math.floor(rows / 2) + 57

/** Filters together, each of them with many rows: few rows have both, or none. */
const rareCombinations = [
  `exchanges?partner=${LARGE_PARTNER}&status=failed`,
  `exchanges?currency=${OLD}`,
  `exchanges?currency=${OLD}&status=failed`,
  `exchanges?partner=${LARGE_PARTNER}&currency=${OLD}`,
  `exchanges?partner=${LARGE_PARTNER}&status=failed&currency=btc@btc&amount=${formatUnits(LARGE_UNITS, 8)}`,
  'exchanges?find=refund-shared&status=refunded',
  `swaps?partner=${LARGE_PARTNER}&status=failed`,
  'audit?actor=a-busy-actor&subject=a-busy-subject',
]

/** The lists that grow with the business, and searches with one result, with many, and with none. */
const listsOf = (rows: number): readonly string[] => {
  const n = paidOf(rows)
  return [
    'exchanges',
    ...['finished', 'pending', 'refunded', 'failed'].map((status) => `exchanges?status=${status}`),
    'exchanges?partner=acme',
    ...rareCombinations,
    'exchanges?currency=btc@btc&amount=0.00000501',
    ...[`address-${n}`, `recipient-${n}`, `deposit-${n}`, `payout-${n}`, 'nothing'].map(
      (find) => `exchanges?find=${find}`,
    ),
    'held',
    'payouts',
    'payouts?state=reserved',
    'unclaimed',
    'swaps',
    'swaps?status=failed',
    `swaps?hash=${SEEDED_HASH}`,
    'audit',
    'audit?actor=operator:rare',
    `webhooks/deliveries?webhook=${seededWebhook}`,
    'webhooks',
    'webhooks?partner=acme',
    'requests',
    'requests?state=asked',
    'sessions',
    'partners',
    'partners?find=r-0009999',
    'partners?find=nothing',
    `partners/balances?name=${OWED_PARTNER}`,
    'swap-fees',
    'swap-fees/unclaimed',
    'overview',
  ]
}

type Row = Readonly<{ id?: string; exchangeId?: string; depositId?: string }>
type Answer = Readonly<{ data?: readonly Row[]; next?: string | null }>
type Read = (path: string) => Promise<Answer>

/**
 * Lists of the admin API beside `rows` exchanges, deposits, payouts, swaps, actions, deliveries and conversions in the ledger, a tenth as
 * many requests and sessions of operators, `ACCOUNTS`, and the exchanges, swaps and actions of rare combinations, over one connection.
 * No worker runs beside it: the
 * rows do not follow from each other, and it would work on them.
 */
export async function benchConsole(infrastructure: Infrastructure, rows: number): Promise<Result[]> {
  const app = await infrastructure.startApp('console', 0, {
    hasAdmin: true,
    hasWorker: false,
    seed: (urls) => seedRows(urls.owner, rows),
  })
  const read = readerOf(app)
  const id = (await read(`exchanges?find=payout-${paidOf(rows)}`)).data?.[0]?.id ?? ''
  const held = (await read('held')).data?.[0]
  const singles = [
    ['held payouts', 'payouts?attention=held'],
    ['queue of payouts', 'payouts/queue?network=eth'],
    ['details of an exchange', `exchanges/story?id=${id}`],
    ['decisions about a held deposit', `held/decisions?exchangeId=${held?.exchangeId}&deposit=${held?.depositId}`],
  ] as const
  // What is not found is answered at once.
  for (const path of [singles[3][1], `swaps?hash=${SEEDED_HASH}`])
    if ((await read(path)).data?.length === 0) throw new Error(`${path} has no rows`)
  const measured = await measureLists(read, [...listsOf(rows), ...singles.map(([, path]) => path)])
  const results = [sumUp(measured, rows)]
  for (const [name, path] of singles) {
    const value = quantile(measured.times.get(path) ?? [], 0.95)
    results.push({
      name: `${name} beside ${rows} exchanges, p95`,
      figures: [{ value, unit: 'ms', goal: { below: LIST_GOAL_MS } }],
    })
  }
  return [...results, ...(await measureReports(read, rows))]
}

async function seedRows(ownerUrl: string, rows: number): Promise<void> {
  const database = openDatabase(ownerUrl, { max: 1 })
  try {
    await seedOperator(database, TOKEN)
    await seedAdminRows(database, rows)
    await seedOperatorRows(database, rows)
    await seedAccountRows(database, ACCOUNTS)
    await seedLedgerRows(database)
    await seedCombinations(database, {
      large: Math.round(rows * LARGE_SHARE),
      others: Math.round(rows * OTHERS_SHARE),
    })
  } finally {
    await database.close()
  }
}

/** Times in ms, ascending, by path. */
type Measured = Readonly<{ times: ReadonlyMap<string, readonly number[]>; withSecondPage: number }>

/** Every second request of a list reads the page after the last one that was read, and the second page after the last page. */
async function measureLists(read: Read, paths: readonly string[]): Promise<Measured> {
  const second = new Map<string, string>()
  for (const path of paths) {
    const { next } = await read(path)
    if (next) second.set(path, next)
  }
  if (second.size === 0) throw new Error('no list has a second page: nothing measures how lists are paged')
  const following = new Map(second)
  const times = new Map<string, number[]>(paths.map((path) => [path, []]))
  for (let n = 0; n < REQUESTS; n++)
    for (const path of paths) {
      const cursor = n % 2 === 0 ? undefined : following.get(path)
      const startedAt = performance.now()
      const { next } = await read(cursor === undefined ? path : withCursor(path, cursor))
      times.get(path)?.push(performance.now() - startedAt)
      const later = next ?? second.get(path)
      if (cursor !== undefined && later !== undefined) following.set(path, later)
    }
  for (const list of times.values()) list.sort((a, b) => a - b)
  return { times, withSecondPage: second.size }
}

function sumUp({ times, withSecondPage }: Measured, rows: number): Result {
  const slowest = [...times].map(([path, list]) => ({ path, ms: quantile(list, 0.95) })).toSorted((a, b) => b.ms - a.ms)
  const all = [...times.values()].flat().toSorted((a, b) => a - b)
  return {
    name: `slowest list of the console beside ${rows} exchanges, p95`,
    figures: [{ value: slowest[0]?.ms ?? Number.NaN, unit: 'ms', goal: { below: LIST_GOAL_MS } }],
    note: `of ${slowest.length} lists and searches, ${REQUESTS} requests each, half of them of later pages of the ${withSecondPage} lists that have one; ${slowest
      .slice(0, 5)
      .map(({ path, ms }) => `\`${path}\` ${ms.toFixed(0)} ms`)
      .join(', ')}; median of all ${median(all).toFixed(1)} ms`,
  }
}

/** Reports have no goal: they read every posting of their period, or all of the ledger. */
async function measureReports(read: Read, rows: number): Promise<Result[]> {
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  const period = `from=${dayOf(Date.now() - REPORT_DAYS * DAY_MS)}&to=${dayOf(Date.now())}`
  const results: Result[] = []
  for (const [name, path] of [
    ['trial balance', `ledger/trial-balance?${period}`],
    ['revenue by day', `reports/revenue?${period}&by=day`],
    ['costs by day', `reports/costs?${period}&by=day`],
  ] as const) {
    const times: number[] = []
    for (let n = 0; n < REPORT_REQUESTS; n++) {
      const startedAt = performance.now()
      const { data = [] } = await read(path)
      times.push(performance.now() - startedAt)
      if (data.length === 0) throw new Error(`${path} has no rows`)
    }
    results.push({
      name: `${name} of ${REPORT_DAYS} days beside ${rows} exchanges`,
      figures: [{ value: median(times), unit: 'ms' }],
      note: `median of ${REPORT_REQUESTS} requests; ${POSTINGS_PER_EXCHANGE} postings of each finished exchange`,
    })
  }
  return results
}

/** Reads as an operator who is logged in. */
function readerOf({ process }: App): Read {
  const url = `http://127.0.0.1:${process.report('port')}/admin/v1`
  return async (path) => {
    const list = await fetch(`${url}/${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })
    if (list.status !== 200) throw new Error(`${path} returned ${list.status}: ${await list.text()}`)
    return (await list.json()) as Answer
  }
}

const withCursor = (path: string, cursor: string) =>
  `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
