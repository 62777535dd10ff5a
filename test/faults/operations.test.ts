import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { told } from '../chaos/attacks.ts'
import { type Ground, startGround } from '../chaos/ground.ts'
import { restartOneByOne } from '../chaos/rolling-restart.ts'
import { type Run, withFleet } from '../chaos/run.ts'
import { until } from '../chaos/until.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startGround(['btc', 'eth'])
})
afterAll(() => ground.stop())

test('F21: processes restarted one by one under 50 requests a second fail nobody', async () => {
  await withFleet(ground, { apis: 2, workers: 2 }, async (run) => {
    const { answered, failed, created } = await restartOneByOne(run, 50)
    expect(failed).toEqual([])
    expect(answered).toBeGreaterThan(200)
    const found = await run.fleet.database.query('select 1 from exchanges where id = any($1::uuid[])', [created])
    expect(found.length).toBe(created.length)
    expect(run.fleet.all.flatMap((one) => one.takeCrashes())).toEqual([])
    expect(await run.wrong()).toEqual([])
  })
}, 240_000)

const QUEUED = 100

test('F23: after a pause commits, nothing is signed; after it ends, everything is', async () => {
  await withFleet(ground, { apis: 1, workers: 2 }, async (run) => {
    const { fleet } = run
    const { controls } = fleet.store
    await controls.pause('payouts:eth', 'a queue is to form', 'test')
    await Promise.all(Array.from({ length: QUEUED }, () => run.customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.003' })))
    await until('they are queued', async () => (await counted(run, 'reserved')) === QUEUED, 120_000)
    await controls.resume('payouts:eth')
    await until('some are signed', async () => (await counted(run, 'reserved')) <= QUEUED - 5, 60_000)
    await controls.pause('payouts:eth', 'stop', 'test')
    const [row] = await fleet.database.query<{ now: Date }>('select clock_timestamp() as now')
    const left = await counted(run, 'reserved')
    expect(left).toBeGreaterThan(0)
    // Longer than a hold of the queue lasts: there is nothing to wait for but time.
    await delay(7_000)
    expect(await counted(run, 'reserved')).toBe(left)
    expect(await fleet.database.query('select 1 from attempts where created_at > $1 and network = $2', [row?.now, 'eth'])).toEqual([])
    await controls.resume('payouts:eth')
    await told(run, run.customers.purchases, ['finished'])
    expect(await run.wrong()).toEqual([])
  })
}, 300_000)

async function counted({ fleet }: Run, state: string): Promise<number> {
  return (await fleet.database.query("select 1 from payouts where purpose = 'payout' and network = 'eth' and state = $1", [state])).length
}

test('F24: an empty hot wallet holds its queue up, and once it is filled the queue goes on in its order', async () => {
  await withFleet(ground, { apis: 1, workers: 2 }, async (run) => {
    const { fleet } = run
    const hot = fleet.chains.get('eth')?.addresses.hot() ?? ''
    const held = await ground.call('eth', 'eth_getBalance', [hot, 'latest'])
    await ground.call('eth', 'anvil_setBalance', [hot, '0x0'])
    await Promise.all(Array.from({ length: 12 }, () => run.customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.003' })))
    await until('the queue stands, and somebody was told', async () => (await counted(run, 'reserved')) === 12 && (await fleet.database.query("select 1 from alarms where subject = 'wallet:eth'")).length > 0)
    await ground.call('eth', 'anvil_setBalance', [hot, held])
    // The reconciler may have seen the hole: ending its pause is the operator's word.
    await until('they are signed', async () => {
      await fleet.store.controls.resume('payouts:eth')
      return (await counted(run, 'reserved')) === 0
    }, 120_000)
    await told(run, run.customers.purchases, ['finished'])
    const order = await fleet.database.query<{ nonce: string }>(
      `select split_part(t.conflict_key, ':', 2) as nonce from payouts p join transactions t on t.id = p.transaction_id
       where p.purpose = 'payout' and p.network = 'eth' order by p.created_at, p.id`,
    )
    const nonces = order.map(({ nonce }) => Number(nonce))
    expect(nonces).toEqual([...nonces].sort((a, b) => a - b))
    expect(await run.wrong()).toEqual([])
  })
}, 240_000)
