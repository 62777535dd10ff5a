import { setTimeout as delay } from 'node:timers/promises'
import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'
import {
  type Deposits,
  findHoldingFaults,
  listLegAddresses,
  type NodeBalances,
  readUncredited,
} from '../support/holdings.ts'
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
  const deposits = knownDeposits(fleet.database, nodes, purchases, onChain)
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
 * The app's own rows name the payments that no customer made, those between two legs and to the hot wallet; the nodes say what
 * these paid.
 */
export function knownDeposits(
  database: Sql,
  nodes: NodeBalances,
  purchases: readonly Purchase[],
  onChain: ReadonlyMap<Payment, boolean>,
): Deposits {
  const from = (asset: string) => purchases.filter((one) => one.from === asset)
  return {
    /** Every address may hold the native coin, because sweeps of tokens need gas. */
    async addresses({ id, network, contract }) {
      const payers = contract === null ? purchases.filter((one) => one.from.endsWith(`@${network}`)) : from(id)
      return [...payers.map((one) => one.depositAddress), ...(await listLegAddresses(database, network))]
    },
    async uncredited(asset, of) {
      const payments = from(asset).flatMap((one) => one.payments)
      const inBlocks = payments.filter((payment) => onChain.get(payment))
      const [row] = await database.query<{ units: string }>(CREDITED, [asset, inBlocks.map(({ hash }) => hash)])
      const paid = inBlocks.reduce((sum, { units }) => sum + units, 0n)
      const others = await readUncredited(
        database,
        nodes,
        asset,
        of,
        payments.map(({ hash }) => hash),
      )
      return paid - BigInt(row?.units ?? 0) + others
    },
  }
}

const CREDITED = `select coalesce(sum(credited_units), 0) as units from deposits
  where asset_id = $1 and status = 'credited' and tx_hash = any($2)`

/**
 * Repeats a check until it finds nothing or the differences last. A check that is slower than the limit reads ledger and chain at different
 * times, so it is made twice; with a limit of 0 once.
 */
export async function listPersistent(
  check: () => Promise<readonly string[]>,
  temporaryMs = TEMPORARY_MS,
): Promise<readonly string[]> {
  const end = Date.now() + temporaryMs
  for (let isRepeated = temporaryMs === 0; ; isRepeated = true) {
    const differences = await check()
    if (differences.length === 0 || (isRepeated && Date.now() > end)) return differences
    await delay(REPEAT_MS)
  }
}
