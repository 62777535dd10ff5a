import { performance } from 'node:perf_hooks'
import { openDatabase } from '../server/src/adapters/postgres/core/database.ts'
import { sandboxOperator } from '../server/src/app/sandbox-operator.ts'
import { seedAdminRows, seededWebhook } from '../server/test/adapters/postgres/seed-admin-rows.ts'
import type { App, Infrastructure } from './infrastructure.ts'
import { median, quantile } from './load.ts'
import type { Result } from './results.ts'

/** Requests of each list, one after another. */
const REQUESTS = 40
const LIST_GOAL_MS = 200

/** The lists that grow with the business, and searches with one result, with many, and with none. */
const listsOf = (rows: number): readonly string[] => {
  const n = Math.floor(rows / 2)
  return [
    'exchanges',
    ...['finished', 'pending', 'refunded', 'failed'].map((status) => `exchanges?status=${status}`),
    'exchanges?partner=acme',
    'exchanges?partner=acme&status=refunded',
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
    'audit',
    'audit?actor=operator:rare',
    `webhooks/deliveries?webhook=${seededWebhook}`,
    'webhooks',
    'overview',
  ]
}

/** Lists of the admin API beside `rows` exchanges, deposits, payouts, swaps, acts and deliveries, over one connection. */
export async function benchConsole(infrastructure: Infrastructure, rows: number): Promise<Result[]> {
  const app = await infrastructure.startApp('console', 0, { hasAdmin: true })
  const database = openDatabase(app.databaseUrl, { max: 1 })
  try {
    await seedAdminRows(database, rows)
  } finally {
    await database.close()
  }
  const read = await logIn(app)
  const first = new Map<string, string | null>()
  for (const path of listsOf(rows)) first.set(path, await read(path))
  const measured: { path: string; ms: number }[] = []
  for (let n = 0; n < REQUESTS; n++)
    for (const [path, nextPage] of first) {
      // Every second request reads a later page.
      const asked = n % 2 === 0 || nextPage === null ? path : withPage(path, nextPage)
      const startedAt = performance.now()
      await read(asked)
      measured.push({ path, ms: performance.now() - startedAt })
    }
  const timesOf = (list: typeof measured) => list.map(({ ms }) => ms).sort((a, b) => a - b)
  const slowest = [...Map.groupBy(measured, ({ path }) => path)]
    .map(([path, list]) => ({ path, ms: quantile(timesOf(list), 0.95) }))
    .sort((a, b) => b.ms - a.ms)
  return [
    {
      name: `slowest list of the console beside ${rows} exchanges, p95`,
      figures: [{ value: slowest[0]?.ms ?? Number.NaN, unit: 'ms', goal: { below: LIST_GOAL_MS } }],
      note: `of ${slowest.length} lists and searches, ${REQUESTS} requests each; ${slowest
        .slice(0, 5)
        .map(({ path, ms }) => `\`${path}\` ${ms.toFixed(0)} ms`)
        .join(', ')}; median of all ${median(timesOf(measured)).toFixed(1)} ms`,
    },
  ]
}

/** Reads a list as an operator. Returns its next page. */
async function logIn({ process }: App): Promise<(path: string) => Promise<string | null>> {
  const url = `http://127.0.0.1:${process.report('port')}/admin/v1`
  const answer = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...sandboxOperator, kind: 'bearer' }),
  })
  if (answer.status !== 201) throw new Error(`the login returned ${answer.status}: ${await answer.text()}`)
  const { token } = (await answer.json()) as { token: string }
  return async (path) => {
    const list = await fetch(`${url}/${path}`, { headers: { authorization: `Bearer ${token}` } })
    if (list.status !== 200) throw new Error(`${path} returned ${list.status}: ${await list.text()}`)
    return ((await list.json()) as { nextPage?: string | null }).nextPage ?? null
  }
}

const withPage = (path: string, page: string) =>
  `${path}${path.includes('?') ? '&' : '?'}page=${encodeURIComponent(page)}`
