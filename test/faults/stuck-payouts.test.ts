import { afterAll, beforeAll, expect, test } from 'vitest'
import { told } from '../chaos/attacks.ts'
import { type Ground, startGround } from '../chaos/ground.ts'
import { withFleet } from '../chaos/run.ts'
import { until } from '../chaos/until.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startGround(['btc', 'ltc', 'eth'])
})
afterAll(() => ground.stop())

/** Base units per virtual byte that a payout in litecoin never exceeds: four dust limits of 5460. */
const LITECOIN_RATE_MAX = 4 * 5460
/** One input and two outputs of P2WPKH are 141 virtual bytes; four inputs are 345. */
const SIZE_MAX = 345

test('F13: a stuck payout is raised, with its worker killed in between, conflicts with itself and is paid once', async ({ skip }) => {
  skip(!ground.chains.networks.some(({ network }) => network === 'ltc'), 'litecoind is not installed')
  await withFleet(ground, { apis: 1, workers: 2, config: { clocks: { stuck: '1s' } }, proxied: { networks: ['ltc'] } }, async (run) => {
    const { customers, fleet } = run
    await ground.control('/mining', { network: 'ltc', paused: true })
    const bought = await Promise.all(['0.1', '0.05'].map((amount) => customers.buy({ from: 'eth@eth', to: 'ltc@ltc', amount })))
    await until('the payouts are signed', async () => (await fleet.database.query("select 1 from payouts where network = 'ltc' and state = 'signed'")).length === bought.length)
    fleet.nodes.get('ltc')?.feeTimes(20)
    await until('a fee was raised', async () => (await fleet.database.query('select 1 from attempts group by transaction_id having count(*) > 1')).length > 0, 120_000)
    await Promise.all(fleet.workers.map((worker) => worker.end('SIGKILL')))
    await Promise.all(fleet.workers.map((worker) => worker.start()))
    await until('what was raised is offered', async () => (await fleet.database.query('select 1 from attempts a where sent_at is not null and exists (select 1 from attempts b where b.transaction_id = a.transaction_id and b.id < a.id)')).length > 0, 120_000)
    await ground.control('/mining', { network: 'ltc', paused: false })
    await told(run, bought, ['finished'])
    const attempts = await fleet.database.query<{ transaction_id: string; conflict_key: string; fee_units: string }>("select transaction_id, conflict_key, fee_units from attempts where network = 'ltc'")
    for (const group of Map.groupBy(attempts, ({ transaction_id }) => transaction_id).values()) {
      expect(new Set(group.map(({ conflict_key }) => conflict_key)).size).toBe(1)
      for (const { fee_units } of group) expect(Number(fee_units)).toBeLessThanOrEqual(LITECOIN_RATE_MAX * SIZE_MAX)
    }
    expect(await run.wrong()).toEqual([])
  })
}, 300_000)
