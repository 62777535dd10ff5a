import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'
import type { Asset, AssetId } from '../../server/src/core/domain/asset.ts'
import type { Catalogue } from '../../server/src/core/domain/catalogue.ts'
import { isUtxoFamily } from '../../server/src/core/domain/network.ts'
import type { Chain } from '../../server/src/exchange/ports/chain.ts'
import type { Store } from '../../server/src/exchange/ports/store/store.ts'
import { listOwnAddresses } from './utxo-wallets.ts'

/**
 * Reads holdings from the nodes, in units. Shared with the app: the names of its addresses, which come from its database, and for
 * Monero what monero-wallet.ts names.
 */
export type NodeBalances = Readonly<{
  /** The app's unspent outputs in a UTXO family, from its node or from a wallet program. */
  outputs(network: string, addresses: readonly string[]): Promise<bigint>
  /** What an account holds of a token, or of the native coin if `contract` is null. */
  account(network: string, address: string, contract: string | null): Promise<bigint>
  /** What a transaction in a block paid to an address; 0 if no block has it. */
  received(network: string, payment: PaymentToUs): Promise<bigint>
}>

/** A transaction and the address that it paid. `keyIndex`: of a deposit address; null = another address of the app. */
export type PaymentToUs = Readonly<{
  txHash: string
  address: string
  contract: string | null
  keyIndex: number | null
}>

/** Deposits of an asset, as a test knows them. */
export type Deposits = Readonly<{
  /** Deposit addresses that may hold the asset. */
  addresses(asset: Asset): Promise<readonly string[]>
  /** Units in blocks that the ledger does not have yet: all of them, or only those of exchanges. */
  uncredited(asset: AssetId, of: 'all' | 'exchanges'): Promise<bigint>
}>

/** Of an app or of a fleet of processes. */
export type Books = Readonly<{
  database: Sql
  store: Pick<Store, 'ledger'>
  catalogue: Pick<Catalogue, 'list'>
  chains: ReadonlyMap<string, Pick<Chain, 'addresses'>>
}>

const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/**
 * Compares each account that stands for coins on chains with what the nodes show, one sentence per difference: hot wallets,
 * deposits that are not swept, signed payments, and fee addresses. Nothing may be under way.
 */
export async function findHoldingFaults(
  books: Books,
  nodes: NodeBalances,
  deposits: Deposits,
): Promise<readonly string[]> {
  return [
    ...(await findWalletFaults(books, nodes, deposits)),
    ...(await findDepositFaults(books, nodes, deposits)),
    ...(await findOutgoingFaults(books)),
    ...(await findFeeFaults(books, nodes)),
  ]
}

/**
 * Deposits of a test that keeps no record of the payments: `answered` lists the deposit addresses of a network that the API
 * returned, and `unrecorded` the units that the test paid and the ledger must not have: no event shows them, or they are locked.
 */
export const answeredDeposits = (
  { database }: Books,
  nodes: NodeBalances,
  answered: (network: string) => readonly string[],
  unrecorded: ReadonlyMap<string, bigint> = new Map(),
): Deposits => ({
  addresses: async ({ network }) => [...answered(network), ...(await listLegAddresses(database, network))],
  uncredited: async (asset, of) => (unrecorded.get(asset) ?? 0n) + (await readUncredited(database, nodes, asset, of)),
})

/** The addresses between two legs, which no answer of the API contains. */
export async function listLegAddresses(database: Sql, network: string): Promise<readonly string[]> {
  const rows = await database.query<{ address: string }>(
    'select address from deposit_targets where network = $1 and leg > 0',
    [network],
  )
  return rows.map(({ address }) => address)
}

/**
 * Units in blocks that the ledger does not have, without the transactions `except`. The app's rows name the transactions; what
 * each of them paid comes from the node, so that a wrong row causes a difference and hides none.
 */
export async function readUncredited(
  database: Sql,
  nodes: NodeBalances,
  asset: AssetId,
  of: 'all' | 'exchanges',
  except: readonly string[] = [],
): Promise<bigint> {
  const rows = await database.query<UncreditedRow>(UNCREDITED, [asset, of, except])
  let units = 0n
  for (const { network, key_index, credited, ...row } of rows) {
    const payment = { txHash: row.tx_hash, address: row.address, contract: row.contract }
    const keyIndex = key_index === null ? null : Number(key_index)
    units += (await nodes.received(network, { ...payment, keyIndex })) - BigInt(credited)
  }
  return units
}

const UNCREDITED = `select network, tx_hash, address, contract, max(key_index) as key_index,
    coalesce(sum(credited_units) filter (where status = 'credited'), 0) as credited
  from deposits where asset_id = $1 and block_height is not null and ($2 = 'all' or exchange_id is not null) and tx_hash <> all($3)
  group by network, tx_hash, address, contract having bool_or(status <> 'credited')`
type UncreditedRow = Readonly<{
  network: string
  tx_hash: string
  address: string
  contract: string | null
  key_index: string | null
  credited: string
}>

const difference = (account: string, asset: AssetId, booked: bigint, held: bigint): string =>
  `the ledger has ${booked} of ${asset} in ${account}, and the chain has ${held}`

/** In UTXO families the wallet includes all credited deposits. */
async function findWalletFaults(books: Books, nodes: NodeBalances, deposits: Deposits): Promise<string[]> {
  const faults: string[] = []
  const ledger = await books.store.ledger.balances('asset:wallet')
  for (const { asset, chain, isSpentInPlace } of listServed(books)) {
    const booked = ledger.get(asset.id) ?? 0n
    const held = isSpentInPlace
      ? (await nodes.outputs(asset.network, await listOwnAddresses(books.database, asset.network))) -
        (await deposits.uncredited(asset.id, 'all'))
      : await nodes.account(asset.network, chain.addresses.hot(), asset.contract)
    if (booked !== held) faults.push(difference('asset:wallet', asset.id, booked, held))
  }
  return faults
}

/** Calls to a node at once. */
const BATCH = 20

/** Of a native coin, the addresses also hold the gas that sweeps did not use (`expense:stranded`). */
async function findDepositFaults(books: Books, nodes: NodeBalances, deposits: Deposits): Promise<string[]> {
  const faults: string[] = []
  const credited = await books.store.ledger.balances('asset:deposits')
  const stranded = await books.store.ledger.balances('expense:stranded')
  for (const { asset, isSpentInPlace } of listServed(books)) {
    const booked = (credited.get(asset.id) ?? 0n) + (stranded.get(asset.id) ?? 0n)
    const addresses = isSpentInPlace ? [] : [...new Set(await deposits.addresses(asset))]
    if (addresses.length === 0 && booked === 0n) continue
    let held = 0n
    for (let from = 0; from < addresses.length; from += BATCH) {
      const batch = addresses.slice(from, from + BATCH)
      const units = await Promise.all(batch.map((one) => nodes.account(asset.network, one, asset.contract)))
      held += units.reduce((sum, one) => sum + one, 0n)
    }
    const due = booked + (isSpentInPlace ? 0n : await deposits.uncredited(asset.id, 'exchanges'))
    const account = asset.contract === null ? 'asset:deposits and expense:stranded' : 'asset:deposits'
    if (held !== due) faults.push(difference(account, asset.id, due, held))
  }
  return faults
}

/** Payments that are signed and not confirmed. Those within the wallet never leave it. */
async function findOutgoingFaults({ database, store }: Books): Promise<string[]> {
  const rows = await database.query<{ asset: AssetId; units: string }>(
    `select asset_id as asset, sum(units) as units from payouts
     where state = 'signed' and purpose not in ('split', 'consolidate') group by 1`,
  )
  const signed = new Map(rows.map(({ asset, units }) => [asset, BigInt(units)]))
  const ledger = await store.ledger.balances('asset:outgoing')
  return [...new Set([...signed.keys(), ...ledger.keys()])].flatMap((asset) => {
    const [booked, due] = [ledger.get(asset) ?? 0n, signed.get(asset) ?? 0n]
    return booked === due ? [] : [`the ledger has ${booked} of ${asset} in asset:outgoing, and ${due} are signed`]
  })
}

/** Compares every token that a fee address ever received, also if its balance should be zero. */
async function findFeeFaults({ database, chains }: Books, nodes: NodeBalances): Promise<string[]> {
  const rows = await database.query<{ account: string; asset: AssetId; units: string }>(
    "select account, asset_id as asset, units from balances where account like 'asset:fees:%'",
  )
  const faults: string[] = []
  for (const { account, asset, units } of rows) {
    const [token = '', network = ''] = asset.split('@')
    if (!chains.has(network)) throw new Error(`the app does not serve ${network}, which has fees in the ledger`)
    const address = account.slice('asset:fees:'.length)
    const held = await nodes.account(network, address, token === NATIVE ? null : token)
    if (held !== BigInt(units)) faults.push(difference(account, asset, BigInt(units), held))
  }
  return faults
}

function listServed({ catalogue, chains }: Books) {
  return catalogue.list().flatMap(({ asset, network }) => {
    const chain = chains.get(asset.network)
    return chain === undefined ? [] : [{ asset, chain, isSpentInPlace: isUtxoFamily(network) }]
  })
}
