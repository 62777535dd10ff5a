import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { expectStatuses } from '../attacks.ts'
import type { Purchase } from '../customers.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'

/** Depths below, at and above the 3 confirmations of eth, at each stage of a deposit. */
const reorganisations = [
  { stage: ['confirming', 'exchanging', 'sending', 'finished'], depth: 1 },
  { stage: ['confirming', 'exchanging', 'sending', 'finished'], depth: 2 },
  { stage: ['exchanging', 'sending', 'finished'], depth: 3 },
  { stage: ['exchanging', 'sending', 'finished'], depth: 4 },
  { stage: ['finished'], depth: 5 },
]

export const depositReorgs: Suite = {
  networks: ['btc', 'eth'],
  options: { apis: 1, workers: 2 },
  cases: [
    {
      name: 'F8: pays a deposit once after reorganisations of any depth remove it and include it again',
      work: async (run) => {
        const { customers, fleet } = run
        for (const { stage, depth } of reorganisations) {
          const [incoming] = await Promise.all([
            customers.buy({ from: 'eth@eth', to: 'btc@btc', amount: '0.1' }),
            customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' }),
          ])
          await expectStatuses(run, [incoming], stage)
          await fleet.cluster.reorganize('eth', depth)
          await fleet.cluster.reorganize('btc', Math.min(depth, 4))
          await customers.rebroadcast()
        }
      },
    },
    {
      name: 'F9: reverses and does not pay a deposit that is double-spent before the payout',
      work: async (run) => {
        const { customers, fleet } = run
        await fleet.store.pauses.pause('payouts:eth', 'the test', 'test')
        const purchase = await customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' })
        await expectStatuses(run, [purchase], ['exchanging'])
        await doubleSpend(run, purchase)
        await expectStatuses(run, [purchase], ['pending'])
        assert.deepEqual(await fleet.store.ledger.balances(`liability:exchange:${purchase.id}`), new Map())
        await fleet.store.pauses.resume('payouts:eth')
        // The same customer pays again without a double spend.
        await customers.pay(purchase, '0.005')
        await expectStatuses(run, [purchase], ['finished'])
      },
    },
    {
      name: 'F9: books a loss and raises an alarm if a deposit is double-spent after the payout',
      work: async (run) => {
        const { customers, fleet } = run
        const purchase = await customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' })
        await expectStatuses(run, [purchase], ['finished'])
        for (const payment of purchase.payments) customers.noteDoubleSpend(payment)
        await doubleSpend(run, purchase)
        const readLoss = () => fleet.store.ledger.balance('expense:suspense', 'btc@btc')
        await until('the loss is booked', async () => (await readLoss()) === 400_000n)
        const alarms = await fleet.database.query<{ subject: string }>(
          `select a.subject from alarms a join deposits d on a.subject = 'reorg:' || d.id where d.exchange_id = $1`,
          [purchase.id],
        )
        assert.equal(alarms.length, 1)
      },
    },
  ],
}

/** Replaces the blocks since the purchase's first payment, without it. No block may come between the two calls. */
async function doubleSpend({ fleet: { cluster } }: Run, { payments }: Purchase): Promise<void> {
  await cluster.withMiningPaused('btc', async () => {
    const { confirmations } = await cluster.call('btc', 'getrawtransaction', [payments[0]?.hash, true])
    await cluster.reorganize('btc', confirmations, true)
  })
}
