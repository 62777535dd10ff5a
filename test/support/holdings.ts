import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import type { Catalogue } from '../../server/src/core/domain/catalogue.ts'
import { spendsInPlace } from '../../server/src/core/domain/network.ts'
import type { Chain } from '../../server/src/exchange/ports/chain.ts'
import type { Store } from '../../server/src/exchange/ports/store/store.ts'
import { listOwnAddresses } from './utxo-wallets.ts'

/** Reads holdings from the nodes, in units, without the code of the app. */
export type NodeBalances = Readonly<{
  /** The app's unspent outputs on a UTXO network, from its node or from a wallet program. */
  outputs(network: string, addresses: readonly string[]): Promise<bigint>
  /** What an account holds of a token, or of the native coin if `contract` is null. */
  account(network: string, address: string, contract: string | null): Promise<bigint>
}>

/** Deposits of an asset, as a test knows them. */
export type Deposits = Readonly<{
  /** The addresses of exchanges that received the asset. */
  addresses(asset: AssetId): Promise<readonly string[]>
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
  deposits: Deposits = recordedDeposits(books.database),
): Promise<readonly string[]> {
  return [
    ...(await findWalletFaults(books, nodes, deposits)),
    ...(await findDepositFaults(books, nodes, deposits)),
    ...(await findOutgoingFaults(books)),
    ...(await findFeeFaults(books, nodes)),
  ]
}

/** Deposits as the app recorded them, for tests that keep no record of the payments. */
const recordedDeposits = (database: Sql): Deposits => ({
  async addresses(asset) {
    const rows = await database.query<{ address: string }>(
      'select distinct address from deposits where asset_id = $1 and exchange_id is not null',
      [asset],
    )
    return rows.map(({ address }) => address)
  },
  async uncredited(asset, of) {
    const [row] = await database.query<{ units: string }>(
      `select coalesce(sum(units), 0) as units from deposits where asset_id = $1 and status <> 'credited'
         and block_height is not null and ($2 = 'all' or exchange_id is not null)`,
      [asset, of],
    )
    return BigInt(row?.units ?? 0)
  },
})

const difference = (account: string, asset: AssetId, booked: bigint, held: bigint): string =>
  `the ledger has ${booked} of ${asset} in ${account}, and the chain has ${held}`

/** On UTXO networks the wallet includes all credited deposits. */
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

/** Of the native coin the addresses may hold more: what a sweep of tokens left of its gas. */
async function findDepositFaults(books: Books, nodes: NodeBalances, deposits: Deposits): Promise<string[]> {
  const faults: string[] = []
  const ledger = await books.store.ledger.balances('asset:deposits')
  for (const { asset, isSpentInPlace } of listServed(books)) {
    const credited = ledger.get(asset.id) ?? 0n
    const addresses = isSpentInPlace ? [] : await deposits.addresses(asset.id)
    if (addresses.length === 0 && credited === 0n) continue
    let held = 0n
    for (const address of addresses) held += await nodes.account(asset.network, address, asset.contract)
    const booked = credited + (isSpentInPlace ? 0n : await deposits.uncredited(asset.id, 'exchanges'))
    if (held < booked || (asset.contract !== null && held > booked))
      faults.push(difference('asset:deposits', asset.id, booked, held))
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
    return chain === undefined ? [] : [{ asset, chain, isSpentInPlace: spendsInPlace(network) }]
  })
}
