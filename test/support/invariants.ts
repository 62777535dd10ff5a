import { until } from '@swapyard/lib/until.ts'
import { expect } from 'vitest'
import type { App } from '../../server/src/app/app.ts'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import { spendsInPlace } from '../../server/src/core/domain/network.ts'
import { PATIENCE_MS } from './patience.ts'

type Difference = { asset: string; ledger: string; chain: string }

/**
 * The three invariants that every scenario ends with: the ledger is balanced, what is closed owes nothing, and the chains
 * hold what the ledger says, read from the nodes: in the wallets, and at the address that takes partners' fees of swaps.
 * Waits until no transaction of ours is on its way.
 */
export async function checkInvariants(app: App): Promise<void> {
  await quiet(app)
  expect(await app.store.reconciliation.imbalance(), 'the ledger is balanced').toEqual([])
  const owing = await app.database.query(
    `select b.account, b.asset_id, b.units from balances b join exchanges e on b.account = 'liability:exchange:' || e.id
     where b.units <> 0 and e.status in ('finished', 'failed', 'refunded')
       and not exists (select 1 from executions x where x.exchange_id = e.id and x.status not in ('finished', 'failed', 'refunded'))`,
  )
  expect(owing, 'closed exchanges owe nothing').toEqual([])
  const twice = await app.database.query(
    'select execution_id, count(*) from payouts where state <> $1 and execution_id is not null group by 1 having count(*) > 1',
    ['void'],
  )
  expect(twice, 'nothing is paid twice').toEqual([])
  await walletsEqualLedger(app)
}

async function quiet({ database }: App): Promise<void> {
  let moving: readonly unknown[] = []
  const look = async () => {
    moving = await database.query(
      "select id, state from transactions where state = 'live' union all select id, state from payouts where state in ('reserved', 'signed') and attention is null union all select id, status from swaps where owes_fee and status in ('pending', 'confirming')",
    )
    return moving.length === 0
  }
  await until('nothing is under way', look, { timeoutMs: PATIENCE_MS, explain: () => JSON.stringify(moving) })
}

/** A sweep or a block may come between the two reads: the difference must stand still to count. */
async function walletsEqualLedger(app: App): Promise<void> {
  let last: Difference[] = []
  for (let n = 0; n < 40; n++) {
    last = await differences(app)
    if (last.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  expect(last, 'wallets equal the ledger').toEqual([])
}

async function differences(app: App): Promise<Difference[]> {
  const found: Difference[] = []
  const ledger = await app.store.ledger.balances('asset:wallet')
  for (const { asset, network } of app.catalogue.list()) {
    const chain = app.chains.get(asset.network)
    if (!chain) continue
    const says = ledger.get(asset.id) ?? 0n
    const holds = spendsInPlace(network)
      ? await coins(app, asset.network)
      : await chain.reader.balance(chain.addresses.hot(), asset)
    if (says !== holds) found.push({ asset: asset.id, ledger: says.toString(), chain: holds.toString() })
  }
  return [...found, ...(await feeDifferences(app))]
}

const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** Each token that ever came in at an address for fees, also where nothing of it should be left. */
async function feeDifferences({ database, chains }: App): Promise<Difference[]> {
  const rows = await database.query<{ address: string; asset: AssetId; units: string }>(
    "select substring(account from 12) as address, asset_id as asset, units from balances where account like 'asset:fees:%'",
  )
  const found: Difference[] = []
  for (const { address, asset, units } of rows) {
    const [token = '', network = ''] = asset.split('@')
    const chain = chains.get(network)
    if (!chain) throw new Error(`no chain ${network} to compare fees on`)
    const contract = token === NATIVE ? null : token
    const holds = await chain.reader.balance(address, { id: asset, ticker: token, network, decimals: 0, contract })
    if (holds !== BigInt(units)) found.push({ asset: `${asset} for fees`, ledger: units, chain: holds.toString() })
  }
  return found
}

/** Unspent outputs at addresses of the app that are counted: what is not yet credited is not yet ours. */
async function coins({ database }: App, network: string): Promise<bigint> {
  const [row] = await database.query<{ units: string }>(
    `select coalesce(sum(c.units), 0) as units from coins c left join deposits d on d.id = c.deposit_id
     where c.network = $1 and c.block_height is not null and c.spent_by is null and (d.id is null or d.status = 'credited')`,
    [network],
  )
  return BigInt(row?.units ?? 0)
}
