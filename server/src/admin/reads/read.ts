import type { AdminReadName, OperatorRole } from '@swapyard/schema'
import type { Book } from '../../core/domain/book.ts'
import type { Network } from '../../core/domain/network.ts'
import { refused } from '../../core/services/audit-note.ts'
import type { PoolReads } from '../../swap/interfaces.ts'
import type { ActionDeps } from '../actions/action.ts'
import type { AdminStore } from '../ports/admin-store.ts'
import type { PageRequest, Rows } from '../ports/lists.ts'
import type { Session } from '../ports/sessions.ts'
import type { createSums } from './sums.ts'

type Row = Readonly<Record<string, unknown>>

/** What a running API process knows in memory. */
export type Live = Readonly<{
  book(): Book
  readiness(): readonly string[]
  networks: readonly Network[]
  /** Hosts of the nodes by network. */
  endpoints: ReadonlyMap<string, readonly string[]>
  tokens(
    network: string,
  ): readonly Readonly<{ address: string; symbol: string; name: string; decimals: number; enabled: boolean }>[]
  pools: PoolReads
  publicUrl: string
  /** The settings in force, without secrets. */
  settings: Row
  now(): number
}>

/** Who reads. On the server's command line there is no session, and nothing is live. */
export type Reader = Readonly<{ session: Session | null; role: OperatorRole }>

export type ReadContext = Readonly<{
  store: AdminStore
  deps: ActionDeps
  twoPersons: boolean
  live: Live | null
  sums: ReturnType<typeof createSums>
  reader: Reader
}>

/** Members of the query, checked by the schema of the route. */
export type Query = Readonly<Record<string, string | undefined>>

export type ReadsOf<Name extends AdminReadName> = Readonly<{
  [Key in Name]: (context: ReadContext, query: Query) => Promise<Rows | Row>
}>

export const PAGE_DEFAULT = 100

export const toPage = ({ cursor, limit }: Query): PageRequest => ({
  cursor: cursor ?? null,
  limit: limit === undefined ? PAGE_DEFAULT : Number.parseInt(limit, 10),
})

/** A list without pages. */
export const whole = (data: Rows['data']): Rows => ({ data, next: null })

export function requireLive({ live }: ReadContext): Live {
  if (live === null) throw refused('only a running API process knows this: read it through the admin API')
  return live
}

/** Bigints as text, recursively: rows of stores have base units. */
export const toPlain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? member.toString() : member)),
  )
