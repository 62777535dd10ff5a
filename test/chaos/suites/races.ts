import assert from 'node:assert/strict'
import { createBody } from '../../support/create-body.ts'
import { until } from '../../support/until.ts'
import { CREATE, quoteFixedRate, raceRateId, requestForeignExchanges } from '../attacks.ts'
import type { Reply } from '../client.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'

/** Concurrent creates with one idempotency key. */
const SAME_KEY = 20
/** Requests of two partners for each other's exchanges. */
const REQUESTS = { thorough: 10_000, short: 2_000 }

/** Adds ten jobs for every possible step, without a job key, so that both workers run them at the same time. */
const ADD_STALE_JOBS = `select graphile_worker.add_job(kind, json_build_object('id', id)) from generate_series(1, 10), (
  select 'exchange' as kind, id::text from exchanges union all select 'transaction', id::text from transactions
  union all select 'dispatch', network from payouts group by network) jobs`

/** The next wave waits for these, so that a slow machine is not left with a growing queue. */
const QUEUED_STALE_JOBS = `select 1 from graphile_worker._private_jobs
  where key is null and attempts = 0 and run_at <= clock_timestamp() limit 1`

export const races: Suite = {
  networks: ['btc', 'eth'],
  options: { apis: 2, workers: 2 },
  cases: [
    { name: 'F14: makes one attempt per payout despite ten stale wake-ups for each due one', work: addStaleWakeUps },
    {
      name: 'F17: creates one exchange per rateId and per idempotency key over two processes, and rejects an expired rateId',
      work: raceCreates,
    },
    {
      name: "F18: hides each partner's exchanges from the other partner",
      work: async (run, { isThorough }) => {
        const requests = isThorough ? REQUESTS.thorough : REQUESTS.short
        assert.deepEqual(await requestForeignExchanges(run, { exchanges: 50, requests }), [])
      },
    },
  ],
}

async function addStaleWakeUps({ fleet, customers }: Run): Promise<void> {
  const orders = [
    { from: 'btc@btc', to: 'eth@eth', amount: '0.004' },
    { from: 'eth@eth', to: 'btc@btc', amount: '0.1' },
  ]
  const bought = await Promise.all([...orders, ...orders].map((requested) => customers.buy(requested)))
  const ids = bought.map(({ id }) => id)
  const finished = "select 1 from exchanges where id = any($1::uuid[]) and status = 'finished'"
  const addJobs = async () => {
    await fleet.database.query(ADD_STALE_JOBS)
    await until('the wave is taken', async () => (await fleet.database.query(QUEUED_STALE_JOBS)).length === 0)
    return (await fleet.database.query(finished, [ids])).length === ids.length
  }
  await until('all are finished', addJobs)
  const twice = `select 1 from payouts p join attempts a on a.transaction_id = p.transaction_id
    where p.execution_id is not null group by p.id having count(*) > 1`
  assert.deepEqual(await fleet.database.query(twice), [])
}

async function raceCreates(run: Run): Promise<void> {
  const { fleet, client } = run
  const urls = fleet.apis.map(({ url }) => url ?? '')
  const create = (n: number, body: unknown, key?: string) => {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    return client.once(urls[n % urls.length] ?? '', 'POST', CREATE, body, headers)
  }
  const createSeveral = (count: number, body: unknown, key?: string): Promise<Reply[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => create(n, body, key)))
  // It expires during the other requests.
  const late = await quoteFixedRate(run)
  assert.deepEqual(await raceRateId(run), [])

  const sameKey = await createSeveral(SAME_KEY, createBody, 'one key')
  assert.equal(new Set(sameKey.map(({ status, text }) => `${status} ${text}`)).size, 1)
  const other = await create(0, { ...createBody, fromAmount: '0.02' }, 'one key')
  assert.equal(other.body.code, 'IDEMPOTENCY_CONFLICT')

  // By the database's clock.
  const isExpired = async () => {
    const [row] = await fleet.database.query<{ ms: string }>(
      'select extract(epoch from clock_timestamp()) * 1000 as ms',
    )
    return Number(row?.ms) > Date.parse(late.validUntil)
  }
  await until('the rateId is expired', isExpired)
  assert.equal(
    (await create(1, { ...createBody, flow: 'fixed-rate', rateId: late.rateId })).body.code,
    'RATE_ID_EXPIRED',
  )
}
