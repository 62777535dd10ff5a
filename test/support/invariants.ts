import { until } from '@swapyard/lib/until.ts'
import { expect } from 'vitest'
import type { App } from '../../server/src/app/app.ts'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import { spendsInPlace } from '../../server/src/core/domain/network.ts'
import { findLedgerFaults } from './ledger.ts'
import { PATIENCE_MS } from './patience.ts'
import { listOwnAddresses, readUncreditedUnits } from './utxo-wallets.ts'

type Difference = { asset: string; ledger: string; chain: string }

/** Reads holdings from the nodes, in units, without the code of the app. */
export type NodeBalances = Readonly<{
  /** The app's unspent outputs on a UTXO network, from its node or from a wallet program. */
  outputs(network: string, addresses: readonly string[]): Promise<bigint>
  /** What an account holds of a token, or of the native coin if `contract` is null. */
  account(network: string, address: string, contract: string | null): Promise<bigint>
}>

/**
 * Waits until no transaction of the app is pending, then checks the invariants of every scenario: the ledger is balanced,
 * closed exchanges owe nothing, nothing is paid twice, and the wallets and fee addresses hold on chain what the ledger says.
 * What they hold is read from the nodes on every network.
 */
export async function checkInvariants(app: App, nodes: NodeBalances): Promise<void> {
  await waitUntilIdle(app)
  expect(await findLedgerFaults(app.database), 'the ledger is balanced').toEqual([])
  const openLiabilities = await app.database.query(
    `select b.account, b.asset_id, b.units from balances b join exchanges e on b.account = 'liability:exchange:' || e.id
     where b.units <> 0 and e.status in ('finished', 'failed', 'refunded')
       and not exists (select 1 from executions x where x.exchange_id = e.id and x.status not in ('finished', 'failed', 'refunded'))`,
  )
  expect(openLiabilities, 'closed exchanges owe nothing').toEqual([])
  const repeatedPayouts = await app.database.query(
    'select execution_id, count(*) from payouts where state <> $1 and execution_id is not null group by 1 having count(*) > 1',
    ['void'],
  )
  expect(repeatedPayouts, 'nothing is paid twice').toEqual([])
  await expectWalletsEqualLedger(app, nodes)
}

async function waitUntilIdle({ database }: App): Promise<void> {
  let pending: readonly unknown[] = []
  const isIdle = async () => {
    pending = await database.query(
      "select id, state from transactions where state = 'live' union all select id, state from payouts where state in ('reserved', 'signed') and attention is null union all select id, status from swaps where owes_fee and status in ('pending', 'confirming')",
    )
    return pending.length === 0
  }
  await until('no transaction is pending', isIdle, { timeoutMs: PATIENCE_MS, explain: () => JSON.stringify(pending) })
}

/** Fails only if a difference persists: a sweep or a block may fall between the two reads. */
async function expectWalletsEqualLedger(app: App, nodes: NodeBalances): Promise<void> {
  let differences: readonly Difference[] = []
  const areEqual = async () => {
    differences = await findDifferences(app, nodes)
    return differences.length === 0
  }
  const explain = () => JSON.stringify(differences)
  await until('wallets equal the ledger', areEqual, { timeoutMs: PATIENCE_MS, intervalMs: 250, explain })
}

async function findDifferences(app: App, nodes: NodeBalances): Promise<Difference[]> {
  const differences: Difference[] = []
  const ledger = await app.store.ledger.balances('asset:wallet')
  for (const { asset, network } of app.catalogue.list()) {
    const chain = app.chains.get(asset.network)
    if (!chain) continue
    const ledgerUnits = ledger.get(asset.id) ?? 0n
    const chainUnits = spendsInPlace(network)
      ? await readCreditedUnits(app, asset.network, nodes)
      : await nodes.account(asset.network, chain.addresses.hot(), asset.contract)
    if (ledgerUnits !== chainUnits)
      differences.push({ asset: asset.id, ledger: ledgerUnits.toString(), chain: chainUnits.toString() })
  }
  return [...differences, ...(await findDepositDifferences(app, nodes)), ...(await findFeeDifferences(app, nodes))]
}

/**
 * Compares credited deposits that are not swept with what their addresses hold. Of the native coin they may hold more: what a
 * sweep of tokens left of its gas.
 */
async function findDepositDifferences(
  { database, catalogue, chains, store }: App,
  nodes: NodeBalances,
): Promise<Difference[]> {
  const differences: Difference[] = []
  const ledger = await store.ledger.balances('asset:deposits')
  for (const { asset, network } of catalogue.list()) {
    if (!chains.has(asset.network) || spendsInPlace(network)) continue
    const rows = await database.query<{ address: string; uncredited: string }>(
      `select address, coalesce(sum(units) filter (where status <> 'credited' and block_height is not null), 0) as uncredited
       from deposits where asset_id = $1 and exchange_id is not null group by address`,
      [asset.id],
    )
    const held = await Promise.all(rows.map(({ address }) => nodes.account(asset.network, address, asset.contract)))
    const chainUnits = held.reduce((sum, units) => sum + units, 0n)
    const uncredited = rows.reduce((sum, row) => sum + BigInt(row.uncredited), 0n)
    const ledgerUnits = (ledger.get(asset.id) ?? 0n) + uncredited
    if (chainUnits < ledgerUnits || (asset.contract !== null && chainUnits > ledgerUnits))
      differences.push({
        asset: `${asset.id} in deposits`,
        ledger: ledgerUnits.toString(),
        chain: chainUnits.toString(),
      })
  }
  return differences
}

/** What the node shows at the app's addresses, less the deposits that are not in the ledger yet. */
async function readCreditedUnits({ database }: App, network: string, nodes: NodeBalances): Promise<bigint> {
  const units = await nodes.outputs(network, await listOwnAddresses(database, network))
  return units - (await readUncreditedUnits(database, network))
}

const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** Compares every token that a fee address ever received, also if its balance should be zero. */
async function findFeeDifferences({ database, chains }: App, nodes: NodeBalances): Promise<Difference[]> {
  const rows = await database.query<{ address: string; asset: AssetId; units: string }>(
    "select substring(account from 12) as address, asset_id as asset, units from balances where account like 'asset:fees:%'",
  )
  const differences: Difference[] = []
  for (const { address, asset, units } of rows) {
    const [token = '', network = ''] = asset.split('@')
    if (!chains.has(network)) throw new Error(`the app does not serve ${network}, which has fees in the ledger`)
    const chainUnits = await nodes.account(network, address, token === NATIVE ? null : token)
    if (chainUnits !== BigInt(units))
      differences.push({ asset: `${asset} for fees`, ledger: units, chain: chainUnits.toString() })
  }
  return differences
}
