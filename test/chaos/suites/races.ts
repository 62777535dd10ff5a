import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../../support/until.ts'
import { curiousPartners } from '../attacks.ts'
import type { Reply } from '../client.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'

const TWINS = 20
const RACERS = 50
/** Questions of two partners about each other's exchanges. */
const ASKS = { thorough: 10_000, short: 2_000 }
/** Between two waves of stale wake-ups: workers must come to the end of one. */
const WAVE_MS = 700
const PATIENCE_MS = 120_000
/** Times that a refusal for being busy is asked again. */
const BUSY_MAX = 10

/** Every step that there is, ten times over, for two workers at once: jobs that no key holds together. */
const STALE = `select graphile_worker.add_job(kind, json_build_object('id', id)) from generate_series(1, 10), (
  select 'exchange' as kind, id::text from exchanges union all select 'transaction', id::text from transactions
  union all select 'dispatch', network from payouts group by network) jobs`

const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
const order = { ...pair, fromAmount: '0.01', address: '0x8ba1f109551bd432803012645ac136ddd64dba72' }

export const races: Suite = {
  networks: ['btc', 'eth'],
  options: { apis: 2, workers: 2, config: { clocks: { rateId: '3s' } } },
  cases: [
    { name: 'F14: stale wake-ups, ten for each that is due, change nothing', work: wakeTooOften },
    { name: 'F17: over two processes a rateId makes one exchange, for as long as it lives, and a key one', work: race },
    {
      name: 'F18: no partner sees anything of another one',
      work: async (run, { isThorough }) => {
        const asks = isThorough ? ASKS.thorough : ASKS.short
        assert.deepEqual(await curiousPartners(run, { each: 50, asks }), [])
      },
    },
  ],
}

async function wakeTooOften({ fleet, customers }: Run): Promise<void> {
  const orders = [
    { from: 'btc@btc', to: 'eth@eth', amount: '0.004' },
    { from: 'eth@eth', to: 'btc@btc', amount: '0.1' },
  ]
  const bought = await Promise.all([...orders, ...orders].map((wanted) => customers.buy(wanted)))
  const ids = bought.map(({ id }) => id)
  const finished = "select 1 from exchanges where id = any($1::uuid[]) and status = 'finished'"
  const wake = async () => {
    await fleet.database.query(STALE)
    await delay(WAVE_MS)
    return (await fleet.database.query(finished, [ids])).length === ids.length
  }
  await until('all are finished', wake, PATIENCE_MS)
  const twice = `select 1 from payouts p join attempts a on a.transaction_id = p.transaction_id
    where p.execution_id is not null group by p.id having count(*) > 1`
  assert.deepEqual(await fleet.database.query(twice), [])
}

async function race({ fleet, client }: Run): Promise<void> {
  const urls = fleet.apis.map(({ url }) => url ?? '')
  const create = async (n: number, body: unknown, key?: string) => {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const ask = () => client.once(urls[n % urls.length] ?? '', 'POST', '/v1/cross-chain/exchange', body, headers)
    let reply = await ask()
    // A machine that is too busy says so, and when to come back.
    for (let left = BUSY_MAX; left > 0 && reply.status === 503 && reply.retryAfter !== null; left--) {
      await delay(Number(reply.retryAfter) * 1_000)
      reply = await ask()
    }
    return reply
  }
  const several = (count: number, body: unknown, key?: string): Promise<Reply[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => create(n, body, key)))
  const question = new URLSearchParams({ ...pair, amount: order.fromAmount, flow: 'fixed-rate' })
  const quote = async () => (await client.call('GET', `/v1/cross-chain/rate?${question}`)).body
  const fixed = { ...order, flow: 'fixed-rate' }

  const { rateId } = await quote()
  const answers = (await several(RACERS, { ...fixed, rateId })).map(
    ({ status, body }) => `${status} ${body.code ?? ''}`,
  )
  assert.deepEqual(answers.sort(), ['201 ', ...Array<string>(RACERS - 1).fill('409 RATE_ID_USED')])

  const standard = { ...order, flow: 'standard' }
  const twins = await several(TWINS, standard, 'one key')
  assert.equal(new Set(twins.map(({ status, text }) => `${status} ${text}`)).size, 1)
  const other = await create(0, { ...standard, fromAmount: '0.02' }, 'one key')
  assert.equal(other.body.code, 'IDEMPOTENCY_CONFLICT')

  // Over by the database's clock.
  const late = await quote()
  const isOver = async () => {
    const [row] = await fleet.database.query<{ ms: string }>(
      'select extract(epoch from clock_timestamp()) * 1000 as ms',
    )
    return Number(row?.ms) > Date.parse(late.validUntil)
  }
  await until('it is over', isOver)
  assert.equal((await create(1, { ...fixed, rateId: late.rateId })).body.code, 'RATE_ID_EXPIRED')
}
