import { afterAll, beforeAll, expect, test } from 'vitest'
import { curiousPartners } from '../chaos/attacks.ts'
import { type Ground, startGround } from '../chaos/ground.ts'
import { withFleet } from '../chaos/run.ts'
import { until } from '../chaos/until.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startGround(['btc', 'eth'])
})
afterAll(() => ground.stop())

/** Every step that there is, ten times over, for two workers at once: jobs that no key holds together. */
const STALE = `select graphile_worker.add_job(kind, json_build_object('id', id)) from generate_series(1, 10), (
  select 'exchange' as kind, id::text from exchanges union all select 'transaction', id::text from transactions
  union all select 'dispatch', network from payouts group by network) jobs`

test('F14: stale wake-ups, ten for each that is due, change nothing', async () => {
  await withFleet(ground, { apis: 1, workers: 2 }, async ({ fleet, customers, wrong }) => {
    const bought = await Promise.all([...Array(4).keys()].map((n) => customers.buy(n % 2 === 0 ? { from: 'btc@btc', to: 'eth@eth', amount: '0.004' } : { from: 'eth@eth', to: 'btc@btc', amount: '0.1' })))
    await until('all are finished', async () => {
      await fleet.database.query(STALE)
      const rows = await fleet.database.query("select 1 from exchanges where id = any($1::uuid[]) and status = 'finished'", [bought.map(({ id }) => id)])
      return rows.length === bought.length
    }, 120_000)
    const attempts = await fleet.database.query('select 1 from payouts p join attempts a on a.transaction_id = p.transaction_id where p.execution_id is not null group by p.id having count(*) > 1')
    expect(attempts).toEqual([])
    expect(await wrong()).toEqual([])
  })
}, 240_000)

test('F17, F18: over two processes a rateId makes one exchange, a key makes one, and nobody sees another’s', async () => {
  await withFleet(ground, { apis: 2, workers: 1, config: { clocks: { rateId: '3s' } } }, async (run) => {
    const { fleet, client } = run
    const urls = fleet.apis.map(({ url }) => url ?? '')
    const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
    const order = { ...pair, fromAmount: '0.01', flow: 'fixed-rate', address: '0x8ba1f109551bd432803012645ac136ddd64dba72' }
    const quote = async () => (await client.call('GET', `/v1/cross-chain/rate?${new URLSearchParams({ ...pair, amount: '0.01', flow: 'fixed-rate' })}`)).body
    const create = (n: number, body: unknown, key?: string) => client.once(urls[n % 2] ?? '', 'POST', '/v1/cross-chain/exchange', body, key === undefined ? {} : { 'idempotency-key': key })

    const { rateId } = await quote()
    const raced = await Promise.all([...Array(50).keys()].map((n) => create(n, { ...order, rateId })))
    expect(raced.find(({ status }) => status !== 201 && status !== 409)?.text).toBeUndefined()
    expect(raced.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)])
    expect(new Set(raced.filter(({ status }) => status === 409).map(({ body }) => body.code))).toEqual(new Set(['RATE_ID_USED']))

    const twins = await Promise.all([...Array(20).keys()].map((n) => create(n, { ...order, flow: 'standard' }, 'one key')))
    expect(new Set(twins.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect((await create(0, { ...order, flow: 'standard', fromAmount: '0.02' }, 'one key')).body.code).toBe('IDEMPOTENCY_CONFLICT')

    // To the last moment, by the database's clock, and not beyond it.
    const { rateId: late, validUntil } = await quote()
    const [row] = await fleet.database.query<{ ms: string }>('select extract(epoch from clock_timestamp()) * 1000 as ms')
    const offset = Number(row?.ms) - Date.now()
    await until('it is over', () => Date.now() + offset > Date.parse(validUntil), 10_000)
    expect((await create(1, { ...order, rateId: late })).body.code).toBe('RATE_ID_EXPIRED')

    expect(await curiousPartners(run, { each: 50, asks: 10_000 })).toEqual([])
    expect(client.wrong()).toEqual([])
  })
}, 240_000)
