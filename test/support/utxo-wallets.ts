import { parseUnits } from 'viem'
import { type BitcoinTicker, scriptOfAddress } from '../../sandbox/src/bitcoin/addresses.ts'
import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'
import { nullIfRefused } from './node-refusal.ts'

/** Calls a method of a node's JSON-RPC. */
export type CallNode = (method: string, params: readonly unknown[]) => Promise<unknown>

type ScanReply = { unspents: { scriptPubKey: string; txid: string; amount: number }[] }

/** An unspent output of an address, as a node lists it. */
export type UnspentOutput = Readonly<{ address: string; txid: string; units: bigint }>

/** Lists the confirmed unspent outputs of addresses by the node's own set (`scantxoutset`). */
export async function listUnspent(
  call: CallNode,
  network: BitcoinTicker,
  addresses: readonly string[],
): Promise<readonly UnspentOutput[]> {
  if (addresses.length === 0) return []
  const byScript = new Map(
    addresses.map((address) => [Buffer.from(scriptOfAddress(network, address)).toString('hex'), address]),
  )
  const descriptors = [...byScript.keys()].map((script) => `raw(${script})`)
  const { unspents } = (await call('scantxoutset', ['start', descriptors])) as ScanReply
  return unspents.map(({ scriptPubKey, txid, amount }) => ({
    address: byScript.get(scriptPubKey) ?? '',
    txid,
    units: parseUnits(Number(amount).toFixed(8), 8),
  }))
}

type Transaction = Readonly<{
  confirmations?: number
  vout: readonly { value: number; scriptPubKey: { hex: string } }[]
}>

/** What a transaction in a block paid to an address; 0 if no block has it. The node needs an index of transactions. */
export async function readUtxoReceived(
  call: CallNode,
  network: BitcoinTicker,
  txHash: string,
  address: string,
): Promise<bigint> {
  const transaction = (await call('getrawtransaction', [txHash, true]).catch(nullIfRefused)) as Transaction | null
  if (transaction === null || !transaction.confirmations) return 0n
  const script = Buffer.from(scriptOfAddress(network, address)).toString('hex')
  return transaction.vout
    .filter(({ scriptPubKey }) => scriptPubKey.hex === script)
    .reduce((sum, { value }) => sum + parseUnits(Number(value).toFixed(8), 8), 0n)
}

export const sumUnits = (outputs: readonly Readonly<{ units: bigint }>[]): bigint =>
  outputs.reduce((sum, { units }) => sum + units, 0n)

/** The app's addresses on a network: hot wallet, change and deposits. */
export async function listOwnAddresses(database: Sql, network: string): Promise<readonly string[]> {
  const rows = await database.query<{ address: string }>(
    'select address from house_addresses where network = $1 union select address from deposit_targets where network = $1',
    [network],
  )
  return rows.map(({ address }) => address)
}

/** The highest derivation index of a deposit address on a network. */
export async function readHighestIndex(database: Sql, network: string): Promise<number> {
  const [row] = await database.query<{ highest: string }>(
    'select coalesce(max(key_index), 0) as highest from deposit_targets where network = $1',
    [network],
  )
  return Number(row?.highest ?? 0)
}
