import type { Database } from '../../server/src/adapters/postgres/core/database.ts'
import { listPersistent } from './check-ledger.ts'
import type { Customers } from './customers.ts'
import type { Fleet } from './fleet.ts'

/** An alarm about a fault that is over ends within this time: with the next check of what it is about. */
const ENDING_MS = 60_000

/** Alarms of less severity that no suite causes: a payout that fails on its chain, and foreign tokens. */
const NEVER = ['payout', 'stray']

/** Alarms and pauses that last after a suite, and that it did not cause on purpose. */
export const checkAlarms = ({ database }: Fleet, customers: Customers, mayEnd: boolean): Promise<readonly string[]> =>
  listPersistent(() => listUncaused(database, customers), mayEnd ? ENDING_MS : 0)

/** Critical alarms and pauses that stand now. What a suite caused on purpose is not among them. */
export async function listUncaused(
  database: Database,
  customers: Pick<Customers, 'purchases' | 'isDoubleSpent'>,
): Promise<string[]> {
  const rows = await database.query<{ subject: string; alarm: string; detail: unknown }>(
    `select subject, alarm, detail from alarms
     where severity = 'critical' or split_part(subject, ':', 1) = any($1::text[]) order by subject`,
    [NEVER],
  )
  const caused = await listCaused(database, customers)
  const pauses = await database.query<{ scope: string; reason: string }>('select scope, reason from pauses')
  return [
    ...rows
      .filter(({ subject }) => !caused.has(subject))
      .map(({ subject, alarm, detail }) => `${alarm} (${subject}) ${JSON.stringify(detail)}`),
    ...pauses.map(({ scope, reason }) => `${scope} is paused: ${reason}`),
  ]
}

/**
 * The subjects of the alarms that the suites cause on purpose and that last: of deposits that a customer double-spent after
 * they were paid for (`deposits`). Every other suite repairs what it breaks: reorganised payments are broadcast again
 * (`random`, `deposits`, `monero`), an emptied wallet is filled (`operations`), and full disks and stopped processes are
 * restored (`stops`). So their alarms must end.
 */
async function listCaused(
  database: Database,
  customers: Parameters<typeof listUncaused>[1],
): Promise<ReadonlySet<string>> {
  const doubleSpent = customers.purchases.flatMap(({ payments }) =>
    payments.filter((one) => customers.isDoubleSpent(one)),
  )
  const rows = await database.query<{ subject: string }>(
    `select 'reorg:' || id as subject from deposits where tx_hash = any($1::text[]) and block_height is null`,
    [doubleSpent.map(({ hash }) => hash)],
  )
  return new Set(rows.map(({ subject }) => subject))
}
