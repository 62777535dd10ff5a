import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { told } from '../attacks.ts'
import type { Purchase } from '../customers.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'

/** Confirmations of eth are 3 here. Depths below, at and above them, at each stage that a deposit goes through. */
const reorganisations = [
  { stage: ['confirming', 'exchanging', 'sending', 'finished'], depth: 1 },
  { stage: ['confirming', 'exchanging', 'sending', 'finished'], depth: 2 },
  { stage: ['exchanging', 'sending', 'finished'], depth: 3 },
  { stage: ['exchanging', 'sending', 'finished'], depth: 4 },
  { stage: ['finished'], depth: 5 },
]

export const depositsThatVanish: Suite = {
  networks: ['btc', 'eth'],
  options: { apis: 1, workers: 2 },
  cases: [
    {
      name: 'F8: a deposit that a reorganisation takes away and brings back is paid once, however deep it was',
      work: async (run) => {
        const { customers, fleet } = run
        for (const { stage, depth } of reorganisations) {
          const [incoming] = await Promise.all([
            customers.buy({ from: 'eth@eth', to: 'btc@btc', amount: '0.1' }),
            customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' }),
          ])
          await told(run, [incoming], stage)
          await fleet.cluster.reorganize('eth', depth)
          await fleet.cluster.reorganize('btc', Math.min(depth, 4))
          await customers.offerAgain()
        }
      },
    },
    {
      name: 'F9: what a double spend takes back is not counted any more, and not paid',
      work: async (run) => {
        const { customers, fleet } = run
        await fleet.store.pauses.pause('payouts:eth', 'the test', 'test')
        const spentTwice = await customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' })
        await told(run, [spentTwice], ['exchanging'])
        await fleet.cluster.reorganize('btc', await depthOf(run, spentTwice), true)
        await told(run, [spentTwice], ['pending'])
        assert.deepEqual(await fleet.store.ledger.balances(`liability:exchange:${spentTwice.id}`), new Map())
        await fleet.store.pauses.resume('payouts:eth')
        // The same customer pays once more, and honestly.
        await customers.pay(spentTwice, '0.005')
        await told(run, [spentTwice], ['finished'])
      },
    },
    {
      name: 'F9: a double spend after the payout is a loss that everybody sees, and the books say so',
      work: async (run) => {
        const { customers, fleet } = run
        const stolen = await customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' })
        await told(run, [stolen], ['finished'])
        await fleet.cluster.reorganize('btc', await depthOf(run, stolen), true)
        const lost = () => fleet.store.ledger.balance('expense:suspense', 'btc@btc')
        await until('the loss is booked', async () => (await lost()) === 400_000n)
        const alarms = await fleet.database.query<{ subject: string }>(
          `select a.subject from alarms a join deposits d on a.subject = 'reorg:' || d.id where d.exchange_id = $1`,
          [stolen.id],
        )
        assert.equal(alarms.length, 1)
      },
    },
  ],
}

/** Blocks from the one with a purchase's first payment up to the newest. */
async function depthOf({ fleet }: Run, { payments }: Purchase): Promise<number> {
  return (await fleet.cluster.call('btc', 'getrawtransaction', [payments[0]?.hash, true])).confirmations
}
