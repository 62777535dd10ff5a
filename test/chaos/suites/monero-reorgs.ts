import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { expectStatuses } from '../attacks.ts'
import type { Purchase } from '../customers.ts'
import type { Fleet } from '../fleet.ts'
import { findInclusion, mineAndRemove } from '../inclusion.ts'
import { isPrivateTypeOffered } from '../load.ts'
import { locateMoneroTransaction } from '../monero.ts'
import type { Suite } from '../suite.ts'

/** Depths below and above the 10 confirmations of xmr, and below its finality of 20 blocks. */
const DEPTHS = [2, 5, 9, 12]
const XMR = '2'

export const moneroReorgs: Suite = {
  networks: ['btc', 'eth', 'xmr'],
  options: {
    apis: 1,
    workers: 1,
    // After more than ten popped blocks, a ring may reference removed outputs. Its transaction is never mined and is replaced.
    config: { clocks: { stuck: '10s' }, privacy: { delay: '1s' } },
    proxied: { monero: true },
  },
  cases: [
    {
      name: 'F10: pays deposits and private exchanges once after two to twelve Monero blocks are popped',
      work: async (run) => {
        const { customers, fleet } = run
        const privateOrder = { from: 'btc@btc', to: 'eth@eth', amount: '0.004', privateType: 'privatePlus' } as const
        await until('private exchanges are on offer', () => isPrivateTypeOffered(run, 'privatePlus'))
        const bought: Purchase[] = []
        await fleet.cluster.withMiningPaused('xmr', async () => {
          const privately = await customers.buy(privateOrder)
          const deposited = await customers.buy({ from: 'xmr@xmr', to: 'btc@btc', amount: XMR })
          bought.push(privately, deposited)
          const [payment] = deposited.payments
          assert(payment, 'the purchase has a payment')
          const between = await until('the payment between two legs is sent', () => findBetweenLegs(fleet, privately))
          const findBlock = async () => (await findInclusion(fleet.cluster, 'xmr', between))?.hash
          for (const depth of DEPTHS) {
            const block = await mineAndRemove(fleet, payment, depth, findBlock)
            // Later the app may have replaced it.
            if (depth === DEPTHS[0]) {
              assert(block, 'the payment between two legs was in a block')
              assert.notEqual(await findBlock(), block, 'the payment between two legs is in the same block')
            }
            if (depth === DEPTHS[1]) bought.push(await customers.buy(privateOrder))
          }
        })
        await expectStatuses(run, bought, ['finished'])
      },
    },
    {
      name: 'F10: credits a one-time key that is paid twice once and raises an alarm for the second output',
      work: async (run) => {
        const { customers, fleet } = run
        const bought = await customers.buy({ from: 'xmr@xmr', to: 'btc@btc', amount: XMR })
        const [payment] = bought.payments
        assert(payment, 'the purchase has a payment')
        await until('the payment is in a block', async () =>
          fleet.database
            .query('select 1 from deposits where tx_hash = $1 and block_height is not null', [payment.hash])
            .then(({ length }) => length > 0),
        )
        const duplicate = await fleet.moneroProxy?.addDuplicate(payment.hash)
        await until('the alarm of the second output', async () => {
          const rows = await fleet.database.query('select 1 from alarms where subject like $1', [
            `burnt:xmr:${duplicate}:%`,
          ])
          return rows.length > 0
        })
        await expectStatuses(run, [bought], ['finished'])
        const [counts] = await fleet.database.query<{ deposits: string; coins: string }>(
          `select (select count(*) from deposits where exchange_id = $1) as deposits,
             (select count(*) from coins c join deposits d on d.id = c.deposit_id where d.exchange_id = $1) as coins`,
          [bought.id],
        )
        assert.deepEqual(counts, { deposits: '1', coins: '1' })
      },
    },
  ],
}

/** The app's Monero payment between the two legs of a private exchange, once the node has it; null = not yet. */
async function findBetweenLegs({ cluster, database }: Fleet, { id }: Purchase): Promise<string | null> {
  const [row] = await database.query<{ tx_hash: string }>(
    `select a.tx_hash from payouts p join attempts a on a.transaction_id = p.transaction_id
     where p.exchange_id = $1 and p.network = 'xmr'`,
    [id],
  )
  return row && (await locateMoneroTransaction(cluster, row.tx_hash)) !== null ? row.tx_hash : null
}
