import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { told } from '../attacks.ts'
import type { Fleet } from '../fleet.ts'
import type { Suite } from '../suite.ts'

/** Ten confirmations are asked for here, and nothing is final before twenty: below, at and above them. */
const DEPTHS = [2, 5, 9, 12]
const XMR = '2'

export const moneroBlocksThatVanish: Suite = {
  networks: ['btc', 'eth', 'xmr'],
  options: {
    apis: 1,
    workers: 1,
    // Above ten blocks a ring may name coins that are gone: such bytes are never mined, and others take their place.
    config: { clocks: { stuck: '10s' }, privacy: { delay: '1s' } },
    proxied: { monero: true },
  },
  cases: [
    {
      name: 'F10: Monero blocks that are popped, two to twelve of them, pay everybody once, also between two legs',
      work: async (run) => {
        const { customers, client, fleet } = run
        const wanted = { from: 'btc@btc', to: 'eth@eth', amount: '0.004', privateType: 'privatePlus' } as const
        await until('private exchanges are on offer', async () => {
          const query = 'fromCurrency=btc&fromNetwork=btc&toCurrency=eth&toNetwork=eth&amount=0.004'
          const path = `/v1/cross-chain/rate/private?${query}&privateType=privatePlus`
          return (await client.call('GET', path)).status === 200
        })
        const bought = [
          await customers.buy({ from: 'xmr@xmr', to: 'btc@btc', amount: XMR }),
          await customers.buy(wanted),
        ]
        for (const depth of DEPTHS) {
          const top = await height(fleet)
          await until('there are enough blocks', async () => (await height(fleet)) >= top + depth / 2)
          await fleet.cluster.reorganize('xmr', depth)
          if (depth === DEPTHS[1]) bought.push(await customers.buy(wanted))
        }
        await told(run, bought, ['finished'])
      },
    },
    {
      name: 'F10: a coin whose one-time key is paid twice is one deposit and one coin, and an alarm',
      work: async (run) => {
        const { customers, fleet } = run
        const bought = await customers.buy({ from: 'xmr@xmr', to: 'btc@btc', amount: XMR })
        const [payment] = bought.payments
        assert(payment, 'it was paid')
        await until('it is in a block', async () =>
          fleet.database
            .query('select 1 from deposits where tx_hash = $1 and block_height is not null', [payment.hash])
            .then(({ length }) => length > 0),
        )
        const twin = await fleet.moneroTwin?.twin(payment.hash)
        await until('the second is an alarm', async () => {
          const rows = await fleet.database.query('select 1 from alarms where subject like $1', [`burnt:xmr:${twin}:%`])
          return rows.length > 0
        })
        await told(run, [bought], ['finished'])
        const [counted] = await fleet.database.query<{ deposits: string; coins: string }>(
          `select (select count(*) from deposits where exchange_id = $1) as deposits,
             (select count(*) from coins c join deposits d on d.id = c.deposit_id where d.exchange_id = $1) as coins`,
          [bought.id],
        )
        assert.deepEqual(counted, { deposits: '1', coins: '1' })
      },
    },
  ],
}

const height = async ({ store }: Fleet): Promise<number> => (await store.chainLog.cursor('xmr'))?.height ?? 0
