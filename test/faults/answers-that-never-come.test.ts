import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nodesThatDoNotAnswer, told } from '../chaos/attacks.ts'
import { createClient } from '../chaos/client.ts'
import { type Ground, startGround } from '../chaos/ground.ts'
import { withFleet } from '../chaos/run.ts'
import { until } from '../chaos/until.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startGround(['btc', 'eth'])
})
afterAll(() => ground.stop())

/** COMMIT as the driver sends it: a simple query (PostgreSQL, frontend/backend protocol, `Query`). */
const COMMIT = 'Q\0\0\0\x0bcommit\0'
/** The statement that creates exchanges, by its name in `Bind`. */
const CREATE = 'create-exchanges'

test('F6, F4: whether a COMMIT that nobody answered was done is looked up, never guessed', async () => {
  await withFleet(ground, { apis: 1, workers: 2, proxied: { database: true } }, async (run) => {
    const { fleet, client, customers } = run
    const proxy = fleet.databaseProxy
    // Workers: transactions whose end is unknown, done and not done.
    for (const lost of ['answer', 'request', 'answer'] as const) {
      proxy?.cutAt(COMMIT, lost, 12)
      const cuts = proxy?.cuts() ?? 0
      await Promise.all([
        customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' }),
        customers.buy({ from: 'eth@eth', to: 'btc@btc', amount: '0.1' }),
      ])
      await until('connections were cut', () => (proxy?.cuts() ?? 0) >= cuts + 12)
    }
    // Creates whose reply is lost: the same key again is the same exchange.
    proxy?.cutAt(CREATE, 'answer', 3)
    const bought = await Promise.all(Array.from({ length: 6 }, () => customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.003' })))
    expect(new Set(bought.map(({ id }) => id)).size).toBe(6)
    // Connections that hang, and are then reset.
    proxy?.blackHole(true)
    const [url = ''] = fleet.apis.map((api) => api.url ?? '')
    const hanging = await createClient([url]).once(url, 'POST', '/v1/cross-chain/exchange', order(), { 'idempotency-key': randomUUID() })
    expect(hanging.status).toBe(503)
    proxy?.blackHole(false)
    proxy?.reset()
    // Connections that nobody will answer on again, and that nobody ends either.
    proxy?.abandon()
    bought.push(await customers.buy({ from: 'eth@eth', to: 'btc@btc', amount: '0.1' }))
    const after = await client.call('GET', `/v1/cross-chain/exchange/status?id=${bought[0]?.id}`)
    expect(after.status).toBe(200)
    expect(await run.wrong()).toEqual([])
    expect(fleet.all.flatMap((one) => one.takeCrashes())).toEqual([])
  })
}, 240_000)

const order = () => ({ fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth', fromAmount: '0.01', flow: 'standard', address: '0x8ba1f109551bd432803012645ac136ddd64dba72' })

test('F12: a node that takes a transaction and does not say so is offered the same bytes again', async () => {
  await withFleet(ground, { apis: 1, workers: 2, proxied: { networks: ['eth', 'btc'] } }, async (run) => {
    const { fleet, customers } = run
    await nodesThatDoNotAnswer(run)
    fleet.nodes.get('btc')?.misbehave(['lie', 'silent', 'known'])
    const bought = await Promise.all(Array.from({ length: 3 }, () => customers.buy({ from: 'eth@eth', to: 'btc@btc', amount: '0.1' })))
    await told(run, bought, ['finished'])
    for (const node of fleet.nodes.values()) {
      const byHash = Map.groupBy(node.offered(), ({ hash }) => hash)
      expect([...byHash.values()].some((offers) => offers.length > 1)).toBe(true)
      for (const offers of byHash.values()) expect(new Set(offers.map(({ raw }) => raw)).size).toBe(1)
    }
    expect(await run.wrong()).toEqual([])
    const attempts = await fleet.database.query("select t.id from transactions t join attempts a on a.transaction_id = t.id group by t.id having count(*) > 1 union all select id from transactions where state = 'expired'")
    expect(attempts).toEqual([])
  })
}, 240_000)
