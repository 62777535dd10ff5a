import { afterAll, beforeAll, expect, test } from 'vitest'
import { told } from '../chaos/attacks.ts'
import { type Ground, startGround } from '../chaos/ground.ts'
import { type Run, withFleet } from '../chaos/run.ts'
import { until } from '../chaos/until.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startGround(['btc', 'eth'])
})
afterAll(() => ground.stop())

/** Confirmations of eth are 3 here. Depths below, at and above them, at each stage that a deposit goes through. */
const eth = [
  { stage: ['confirming', 'exchanging', 'sending', 'finished'], depth: 1 },
  { stage: ['confirming', 'exchanging', 'sending', 'finished'], depth: 2 },
  { stage: ['exchanging', 'sending', 'finished'], depth: 3 },
  { stage: ['exchanging', 'sending', 'finished'], depth: 4 },
  { stage: ['finished'], depth: 5 },
]

test('F8: a deposit that a reorganisation takes away and brings back is paid once, however deep it was', async () => {
  await withFleet(ground, { apis: 1, workers: 2 }, async (run) => {
    const { customers } = run
    for (const { stage, depth } of eth) {
      const [incoming, outgoing] = await Promise.all([
        customers.buy({ from: 'eth@eth', to: 'btc@btc', amount: '0.1' }),
        customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' }),
      ])
      await told(run, [incoming], stage)
      await ground.control('/reorgs', { network: 'eth', depth })
      await ground.control('/reorgs', { network: 'btc', depth: Math.min(depth, 4) })
      await customers.offerAgain()
      expect(outgoing.id).not.toBe(incoming.id)
    }
    expect(await run.wrong()).toEqual([])
  })
}, 300_000)

test('F9: what a double spend takes back is not counted any more, and not paid', async () => {
  await withFleet(ground, { apis: 1, workers: 2 }, async (run) => {
    const { customers, fleet } = run
    await fleet.store.controls.pause('payouts:eth', 'the test', 'test')
    const spentTwice = await customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' })
    await told(run, [spentTwice], ['exchanging'])
    await ground.control('/reorgs', { network: 'btc', depth: 6, drop: true })
    await told(run, [spentTwice], ['pending'])
    expect(await fleet.store.ledger.balances(`liability:exchange:${spentTwice.id}`)).toEqual(new Map())
    await fleet.store.controls.resume('payouts:eth')
    // The same customer pays once more, and honestly.
    await customers.pay(spentTwice, '0.005')
    await told(run, [spentTwice], ['finished'])
    expect(await run.wrong()).toEqual([])
  })
}, 240_000)

test('F9: a double spend after the payout is a loss that everybody sees, and the books say so', async () => {
  await withFleet(ground, { apis: 1, workers: 2 }, async (run) => {
    const { customers, fleet } = run
    const stolen = await customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' })
    await told(run, [stolen], ['finished'])
    await deepEnough(run)
    await ground.control('/reorgs', { network: 'btc', depth: 12, drop: true })
    await until('the loss is booked', async () => (await fleet.store.ledger.balance('expense:suspense', 'btc@btc')) === 400_000n)
    const alarms = await fleet.database.query("select 1 from alarms where subject like 'reorg:%'")
    expect(alarms.length).toBe(1)
    expect(await run.wrong()).toEqual([])
  })
}, 240_000)

/** The hot wallet's own coins must lie below what is taken away. */
async function deepEnough({ fleet }: Run): Promise<void> {
  const [row] = await fleet.database.query<{ height: string }>("select max(block_height) as height from coins where network = 'btc' and branch = 'hot'")
  await until('the wallet is buried', async () => (await ground.call('btc', 'getblockcount')) >= Number(row?.height) + 14)
}
