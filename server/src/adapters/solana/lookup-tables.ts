import { base58 } from '@scure/base'
import { type Account, fieldsOf, listOf, type SolanaNodes, toAccount } from './nodes.ts'
import type { LoadedAddresses, Lookup, LookupTable } from './transaction.ts'

/*
 * Lookup tables. A table only grows, and its address is never used again, so an address of a finalized table is the same for every later
 * transaction: what it resolves to when a transaction is checked is what the transaction will name.
 */

const lookupTableProgram = 'AddressLookupTab1e1111111111111111111111111'
const TABLE_KIND = 1
const HEADER_BYTES = 56
const KEY_BYTES = 32
const DEACTIVATION_AT = 4
const ACTIVE = 2n ** 64n - 1n

/** The addresses of a table; null for another account, and for a table that is being closed. */
function addressesOf(account: Account | null | undefined): readonly string[] | null {
  const { owner, data } = account ?? {}
  if (owner !== lookupTableProgram || data === undefined || data.length < HEADER_BYTES) return null
  if (data.readUInt32LE(0) !== TABLE_KIND || data.readBigUInt64LE(DEACTIVATION_AT) !== ACTIVE) return null
  const count = Math.floor((data.length - HEADER_BYTES) / KEY_BYTES)
  return Array.from({ length: count }, (_, index) => {
    const at = HEADER_BYTES + index * KEY_BYTES
    return base58.encode(data.subarray(at, at + KEY_BYTES))
  })
}

/** The addresses that every node has finalized. A table that a node does not have is left out. */
export async function readLookupTables(nodes: SolanaNodes, tables: readonly string[]): Promise<readonly LookupTable[]> {
  if (tables.length === 0) return []
  const options = { encoding: 'base64', commitment: 'finalized' }
  const replies = await nodes.askEvery('getMultipleAccounts', [tables, options])
  const lists = replies.map((reply) => listOf(fieldsOf(reply)['value']).map(toAccount).map(addressesOf))
  return tables.flatMap((address, index) => {
    const [first, ...others] = lists.map((list) => list[index] ?? null)
    if (first === null || first === undefined) return []
    // Where a node has not finalized the last addresses yet, they are not used.
    const isFinal = (one: string, place: number) => others.every((list) => list?.[place] === one)
    const end = first.findIndex((one, place) => !isFinal(one, place))
    const addresses = end === -1 ? first : first.slice(0, end)
    return addresses.length === 0 ? [] : [{ address, addresses }]
  })
}

/** The accounts of lookups; null if a table does not have one of them. */
export async function loadAddresses(nodes: SolanaNodes, lookups: readonly Lookup[]): Promise<LoadedAddresses | null> {
  const tables = await readLookupTables(nodes, [...new Set(lookups.map(({ table }) => table))])
  const byTable = new Map(tables.map(({ address, addresses }) => [address, addresses]))
  const load = (which: 'writable' | 'readonly') =>
    lookups.flatMap((lookup) => lookup[which].map((place) => byTable.get(lookup.table)?.[place] ?? ''))
  const loaded = { writable: load('writable'), readonly: load('readonly') }
  return [...loaded.writable, ...loaded.readonly].includes('') ? null : loaded
}
