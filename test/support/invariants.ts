import { until } from '@swapyard/lib/until.ts'
import { expect } from 'vitest'
import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'
import { type Books, type Deposits, findHoldingFaults, type NodeBalances } from './holdings.ts'
import { findLedgerFaults } from './ledger.ts'
import { PATIENCE_MS } from './patience.ts'

/**
 * Waits until no transaction of the app is pending, then checks the invariants of every scenario: the ledger is balanced,
 * closed exchanges owe nothing, every finished or refunded execution was paid once, and the chains hold what the ledger says.
 * What they hold is read from the nodes on every network.
 */
export async function checkInvariants(
  books: Books,
  nodes: NodeBalances,
  deposits: Deposits,
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  const { database } = books
  await waitUntilIdle(database, timeoutMs)
  expect(await findLedgerFaults(database), 'the ledger is balanced').toEqual([])
  expect(await database.query(OPEN_LIABILITIES), 'closed exchanges owe nothing').toEqual([])
  expect(await database.query(REPEATED_PAYOUTS), 'nothing is paid twice').toEqual([])
  expect(await database.query(UNPAID), 'every finished or refunded execution was paid').toEqual([])
  await expectHoldingsEqualLedger(() => findHoldingFaults(books, nodes, deposits), timeoutMs)
}

const OPEN_LIABILITIES = `select b.account, b.asset_id, b.units from balances b join exchanges e on b.account = 'liability:exchange:' || e.id
  where b.units <> 0 and e.status in ('finished', 'failed', 'refunded')
    and not exists (select 1 from executions x where x.exchange_id = e.id and x.status not in ('finished', 'failed', 'refunded'))`

const REPEATED_PAYOUTS = `select execution_id, count(*)::int as payouts from payouts
  where state <> 'void' and execution_id is not null group by 1 having count(*) > 1`

/** Proceeds without a recipient are credited to the partner. A payout that a reorganisation removed is held for an operator. */
const UNPAID = `select x.id, x.status from executions x
  where x.status in ('finished', 'refunded')
    and not exists (select 1 from payouts p where p.execution_id = x.id and (p.state = 'confirmed' or p.lost)
      and p.purpose = case x.status when 'finished' then 'payout' else 'refund' end)
    and not (x.status = 'finished' and exists (select 1 from journal j where j.id = 'execution:' || x.id || ':to-partner'))`

async function waitUntilIdle(database: Sql, timeoutMs: number): Promise<void> {
  let pending: readonly unknown[] = []
  const isIdle = async () => {
    pending = await database.query(
      "select id, state from transactions where state = 'live' union all select id, state from payouts where state in ('reserved', 'signed') and attention is null union all select id, status from swaps where owes_fee and status in ('pending', 'confirming')",
    )
    return pending.length === 0
  }
  await until('no transaction is pending', isIdle, { timeoutMs, explain: () => JSON.stringify(pending) })
}

/** Fails only if a difference persists: a sweep or a block may fall between the two reads. */
async function expectHoldingsEqualLedger(
  findFaults: () => Promise<readonly string[]>,
  timeoutMs: number,
): Promise<void> {
  let faults: readonly string[] = []
  const areEqual = async () => {
    faults = await findFaults()
    return faults.length === 0
  }
  const explain = () => faults.join('; ')
  await until('the chains hold what the ledger says', areEqual, { timeoutMs, intervalMs: 250, explain })
}
