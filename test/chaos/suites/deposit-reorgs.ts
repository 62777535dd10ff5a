import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { expectStatuses } from '../attacks.ts'
import type { Order, Purchase } from '../customers.ts'
import { mineAndRemove } from '../inclusion.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'

const etherToBitcoin = { from: 'eth@eth', to: 'btc@btc', amount: '0.1' }
const bitcoinToEther = { from: 'btc@btc', to: 'eth@eth', amount: '0.004' }
const CREDITED = ['exchanging', 'sending', 'finished']

/**
 * How deep the deposit is when the blocks since its own are replaced, and the status of its exchange then: below, at and above
 * the 3 confirmations of eth and the 2 of btc.
 */
const reorganisations: readonly Readonly<{ order: Order; depth: number; statuses: readonly string[] }>[] = [
  { order: etherToBitcoin, depth: 1, statuses: ['confirming'] },
  { order: etherToBitcoin, depth: 2, statuses: ['confirming'] },
  { order: etherToBitcoin, depth: 3, statuses: CREDITED },
  { order: etherToBitcoin, depth: 4, statuses: CREDITED },
  { order: etherToBitcoin, depth: 5, statuses: ['finished'] },
  { order: bitcoinToEther, depth: 1, statuses: ['confirming'] },
  { order: bitcoinToEther, depth: 2, statuses: CREDITED },
  { order: bitcoinToEther, depth: 3, statuses: CREDITED },
  { order: bitcoinToEther, depth: 4, statuses: ['finished'] },
]

export const depositReorgs: Suite = {
  networks: ['btc', 'eth'],
  options: { apis: 1, workers: 2, proxied: { networks: ['eth'] }, fixedFees: ['eth'] },
  cases: [
    {
      name: 'F8: pays a deposit once after reorganisations of any depth remove it and include it again',
      work: async (run) => {
        const { customers, fleet } = run
        for (const { order, depth, statuses } of reorganisations) {
          const [, network = ''] = order.from.split('@')
          await fleet.cluster.withMiningPaused(network, async () => {
            const purchase = await customers.buy(order)
            const [payment] = purchase.payments
            assert(payment, 'the purchase has a payment')
            await mineAndRemove(fleet, payment, depth, () => expectStatuses(run, [purchase], statuses))
          })
          await customers.rebroadcast()
        }
      },
    },
    {
      name: 'F9: reverses and does not pay a deposit that is double-spent before the payout',
      work: async (run) => {
        const { customers, fleet } = run
        await fleet.store.pauses.pause('payouts:eth', 'the test', 'test')
        const purchase = await customers.buy(bitcoinToEther)
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
        const purchase = await customers.buy(bitcoinToEther)
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
