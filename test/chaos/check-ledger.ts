import { setTimeout as delay } from 'node:timers/promises'
import { findLedgerFaults } from '../support/ledger.ts'
import { readWallet } from './balances.ts'
import type { Fleet } from './fleet.ts'

/** A sweep or a block between two reads causes a difference that lasts shorter. */
const TEMPORARY_MS = 20_000
const REPEAT_MS = 250

/** Checks the ledger in itself, against closed exchanges, and against the wallets on the nodes. */
export async function checkLedger(fleet: Fleet): Promise<string[]> {
  const { database } = fleet
  const differences = [...(await findLedgerFaults(database))]
  const owing = await database.query<{ account: string; asset_id: string; units: string }>(
    `select b.account, b.asset_id, b.units from balances b join exchanges e on b.account = 'liability:exchange:' || e.id
     where b.units <> 0 and not exists (select 1 from executions x where x.exchange_id = e.id and x.status not in ('finished', 'failed', 'refunded'))`,
  )
  differences.push(
    ...owing.map(({ account, asset_id, units }) => `${account} of a closed exchange owes ${units} of ${asset_id}`),
  )
  return [...differences, ...(await listPersistent(() => checkWallets(fleet)))]
}

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

async function checkWallets(fleet: Fleet): Promise<string[]> {
  const differences: string[] = []
  const ledger = await fleet.store.ledger.balances('asset:wallet')
  for (const { asset } of fleet.catalogue.list()) {
    if (!fleet.chains.has(asset.network)) continue
    const booked = ledger.get(asset.id) ?? 0n
    const balance = await readWallet(fleet, asset)
    if (booked !== balance) differences.push(`the ledger has ${booked} of ${asset.id}, the wallet holds ${balance}`)
  }
  return differences
}
