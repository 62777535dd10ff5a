import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { expectStatuses } from '../attacks.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'

/** Maximum fee rate of a payout in litecoin, in base units per virtual byte: four dust limits of 5460. */
const LITECOIN_RATE_MAX = 4 * 5460
/** Virtual bytes of a P2WPKH transaction with four inputs and two outputs. With one input it has 141. */
const SIZE_MAX = 345

const REPLACEMENTS = 'select 1 from attempts group by transaction_id having count(*) > 1'
const SENT_REPLACEMENTS = `select 1 from attempts a where sent_at is not null and exists (
    select 1 from attempts b where b.transaction_id = a.transaction_id and b.id < a.id)`

export const stuckPayouts: Suite = {
  networks: ['btc', 'ltc', 'eth'],
  options: {
    ...{ apis: 1, workers: 2, config: { clocks: { stuck: '1s' } } },
    ...{ proxied: { networks: ['ltc'] }, fixedFees: ['ltc'] },
  },
  cases: [
    {
      name: 'F13: replaces a stuck payout by a conflicting transaction and pays it once, although its worker is killed',
      work: async (run) => {
        const { customers, fleet } = run
        const { cluster, database } = fleet
        const hasRows = async (sql: string) => (await database.query(sql)).length > 0
        await cluster.control('/mining', { network: 'ltc', paused: true })
        const order = { from: 'eth@eth', to: 'ltc@ltc' }
        const bought = await Promise.all(['0.1', '0.05'].map((amount) => customers.buy({ ...order, amount })))
        const signed = "select 1 from payouts where network = 'ltc' and state = 'signed'"
        await until('they are signed', async () => (await database.query(signed)).length === bought.length)
        fleet.nodes.get('ltc')?.multiplyFees(20)
        await until('a fee was raised', () => hasRows(REPLACEMENTS))
        await Promise.all(fleet.workers.map((worker) => worker.end('SIGKILL')))
        await Promise.all(fleet.workers.map((worker) => worker.start()))
        await until('the replacement is broadcast', () => hasRows(SENT_REPLACEMENTS))
        await cluster.control('/mining', { network: 'ltc', paused: false })
        await expectStatuses(run, bought, ['finished'])
        await expectConflictingAttempts(run)
      },
    },
  ],
}

async function expectConflictingAttempts({ fleet }: Run): Promise<void> {
  type Row = { transaction_id: string; conflict_key: string; fee_units: string }
  const attempts = await fleet.database.query<Row>(
    "select transaction_id, conflict_key, fee_units from attempts where network = 'ltc'",
  )
  for (const group of Map.groupBy(attempts, (row) => row.transaction_id).values()) {
    assert.equal(new Set(group.map((row) => row.conflict_key)).size, 1, 'attempts of one transaction share an input')
    for (const { fee_units } of group) assert.ok(Number(fee_units) <= LITECOIN_RATE_MAX * SIZE_MAX, `fee ${fee_units}`)
  }
}
