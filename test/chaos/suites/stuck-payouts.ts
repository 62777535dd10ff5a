import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { told } from '../attacks.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'

/** Base units per virtual byte that a payout in litecoin never exceeds: four dust limits of 5460. */
const LITECOIN_RATE_MAX = 4 * 5460
/** One input and two outputs of P2WPKH are 141 virtual bytes; four inputs are 345. */
const SIZE_MAX = 345
const PATIENCE_MS = 120_000

const RAISED = 'select 1 from attempts group by transaction_id having count(*) > 1'
const RAISED_AND_SENT = `select 1 from attempts a where sent_at is not null and exists (
    select 1 from attempts b where b.transaction_id = a.transaction_id and b.id < a.id)`

export const stuckPayouts: Suite = {
  networks: ['btc', 'ltc', 'eth'],
  options: { apis: 1, workers: 2, config: { clocks: { stuck: '1s' } }, proxied: { networks: ['ltc'] } },
  cases: [
    {
      name: 'F13: a stuck payout is raised, with its worker killed in between, conflicts with itself and is paid once',
      work: async (run) => {
        const { customers, fleet } = run
        const { cluster, database } = fleet
        const finds = async (sql: string) => (await database.query(sql)).length > 0
        await cluster.control('/mining', { network: 'ltc', paused: true })
        const order = { from: 'eth@eth', to: 'ltc@ltc' }
        const bought = await Promise.all(['0.1', '0.05'].map((amount) => customers.buy({ ...order, amount })))
        const signed = "select 1 from payouts where network = 'ltc' and state = 'signed'"
        await until('they are signed', async () => (await database.query(signed)).length === bought.length, PATIENCE_MS)
        fleet.nodes.get('ltc')?.feeTimes(20)
        await until('a fee was raised', () => finds(RAISED), PATIENCE_MS)
        await Promise.all(fleet.workers.map((worker) => worker.end('SIGKILL')))
        await Promise.all(fleet.workers.map((worker) => worker.start()))
        await until('what was raised is offered', () => finds(RAISED_AND_SENT), PATIENCE_MS)
        await cluster.control('/mining', { network: 'ltc', paused: false })
        await told(run, bought, ['finished'])
        await attemptsConflict(run)
      },
    },
  ],
}

async function attemptsConflict({ fleet }: Run): Promise<void> {
  type Row = { transaction_id: string; conflict_key: string; fee_units: string }
  const attempts = await fleet.database.query<Row>(
    "select transaction_id, conflict_key, fee_units from attempts where network = 'ltc'",
  )
  for (const group of Map.groupBy(attempts, (row) => row.transaction_id).values()) {
    assert.equal(new Set(group.map((row) => row.conflict_key)).size, 1, 'attempts of one transaction share an input')
    for (const { fee_units } of group) assert.ok(Number(fee_units) <= LITECOIN_RATE_MAX * SIZE_MAX, `fee ${fee_units}`)
  }
}
