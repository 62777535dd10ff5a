import { setTimeout as delay } from 'node:timers/promises'
import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'
import { type Deposits, findHoldingFaults } from '../support/holdings.ts'
import { findLedgerFaults } from '../support/ledger.ts'
import { createNodeBalances } from './balances.ts'
import type { Payment, Purchase } from './customers.ts'
import type { Fleet } from './fleet.ts'

/** A sweep or a block between two reads causes a difference that lasts shorter. */
const TEMPORARY_MS = 20_000
const REPEAT_MS = 250

/** Checks the ledger in itself, against closed exchanges, and against what the nodes show of every account with coins. */
export async function checkLedger(
  fleet: Fleet,
  purchases: readonly Purchase[],
  onChain: ReadonlyMap<Payment, boolean>,
): Promise<readonly string[]> {
  const nodes = createNodeBalances(fleet)
  const deposits = knownDeposits(fleet.database, purchases, onChain)
  return [
    ...(await findLedgerFaults(fleet.database)),
    ...(await findDebts(fleet.database)),
    ...(await listPersistent(() => findHoldingFaults(fleet, nodes, deposits))),
  ]
}

/** What exchanges still owe whose executions are all closed. */
export async function findDebts(database: Sql): Promise<readonly string[]> {
  const owing = await database.query<{ account: string; asset_id: string; units: string }>(
    `select b.account, b.asset_id, b.units from balances b join exchanges e on b.account = 'liability:exchange:' || e.id
     where b.units <> 0 and not exists (select 1 from executions x where x.exchange_id = e.id and x.status not in ('finished', 'failed', 'refunded'))`,
  )
  return owing.map(({ account, asset_id, units }) => `${account} of a closed exchange owes ${units} of ${asset_id}`)
}

/**
 * Deposits by the records of the customers: what is in a block and not credited is their payments less the credits of these.
 * Only payments that no customer made, those between two legs and to the hot wallet, are read from the app's own rows.
 */
export function knownDeposits(
  database: Sql,
  purchases: readonly Purchase[],
  onChain: ReadonlyMap<Payment, boolean>,
): Deposits {
  const paymentsOf = (asset: string) =>
    purchases.filter(({ from }) => from === asset).flatMap(({ payments }) => payments)
  return {
    addresses: async (asset) => purchases.filter(({ from }) => from === asset).map((one) => one.depositAddress),
    async uncredited(asset, of) {
      const payments = paymentsOf(asset)
      const inBlocks = payments.filter((payment) => onChain.get(payment))
      const [row] = await database.query<{ credited: string; others: string }>(UNCREDITED, [
        asset,
        of,
        inBlocks.map(({ hash }) => hash),
        payments.map(({ hash }) => hash),
      ])
      const paid = inBlocks.reduce((sum, { units }) => sum + units, 0n)
      return paid - BigInt(row?.credited ?? 0) + BigInt(row?.others ?? 0)
    },
  }
}

const UNCREDITED = `select
    coalesce(sum(credited_units) filter (where status = 'credited' and tx_hash = any($3)), 0) as credited,
    coalesce(sum(units) filter (where status <> 'credited' and block_height is not null and tx_hash <> all($4)
      and ($2 = 'all' or exchange_id is not null)), 0) as others
  from deposits where asset_id = $1`

/** Repeats a check until it finds nothing or the differences last. */
export async function listPersistent(
  check: () => Promise<readonly string[]>,
  temporaryMs = TEMPORARY_MS,
): Promise<readonly string[]> {
  const end = Date.now() + temporaryMs
  for (;;) {
    const differences = await check()
    if (differences.length === 0 || Date.now() > end) return differences
    await delay(REPEAT_MS)
  }
}
