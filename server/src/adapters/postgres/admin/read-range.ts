import type { PageRequest, Rows } from '../../../admin/ports/lists.ts'
import type { Sql } from '../core/database.ts'
import { type Condition, comparePlace, createBinder, type PlacedRow, placeOf, toRows } from './keyset.ts'

/** Rows that one page examines where no index has all its conditions. The next page continues after them. */
export const EXAMINED_MAX = 5_000

/** Rows of a table in the order of their creation, newest first. An index has the columns of `within`, then `status` if it is given. */
export type Range = Readonly<{
  table: 'exchanges' | 'swaps'
  /** Name of the rows in all conditions and in `select`. */
  alias: string
  /** Select list. */
  select: string
  joins: string
  within: readonly Condition[]
  /** Ranges of the index that are merged; null = the index has no status. */
  statuses: readonly string[] | null
  /** Conditions that the index does not have. */
  filters: readonly Condition[]
}>

export async function readRange(sql: Sql, range: Range, page: PageRequest): Promise<Rows> {
  const stop = await findStop(sql, range, page)
  return toRows(await readRangeRows(sql, range, page, stop), page.limit, stop)
}

/** The last row that a page with filters examines; null = the page reaches the end of its range. */
export async function findStop(sql: Sql, range: Range, { cursor }: PageRequest): Promise<string | null> {
  if (range.filters.length === 0) return null
  const { at, id, order } = orderOf(range)
  const values: unknown[] = []
  const bounds = cursor === null ? [] : [comparePlace(at, id, '<', cursor)]
  const rows = rowsOf(range, `${at}, ${id}`, bounds, EXAMINED_MAX, values)
  const [last] = await sql.query<{ position: string }>(
    `select ${placeOf(at, id)} as position from (${rows}) ${range.alias} ${order} offset ${EXAMINED_MAX - 1} limit 1`,
    values,
  )
  return last?.position ?? null
}

/** Rows after the cursor and not after the stop, one more than the page has. */
export async function readRangeRows(
  sql: Sql,
  range: Range,
  { cursor, limit }: PageRequest,
  stop: string | null,
): Promise<readonly PlacedRow[]> {
  const { alias, select, joins, filters } = range
  const { at, id, order } = orderOf(range)
  const values: unknown[] = []
  const bounds = [
    ...(cursor === null ? [] : [comparePlace(at, id, '<', cursor)]),
    ...(stop === null ? [] : [comparePlace(at, id, '>=', stop)]),
  ]
  const keys = `${at}, ${id}`
  const isWhole = filters.length === 0
  // With filters the stop ends the rows; the limit keeps the planner at the index, and rows that were added since do not reach it.
  const rows = rowsOf(range, isWhole ? keys : `${alias}.*`, bounds, isWhole ? limit + 1 : 2 * EXAMINED_MAX, values)
  const conditions = isWhole ? '' : `where ${filters.map(createBinder(values)).join(' and ')}`
  values.push(limit + 1)
  return sql.query<PlacedRow>(
    `select ${placeOf(at, id)} as position, ${select}
     from (select ${keys} from (${rows}) ${alias} ${conditions} ${order} limit $${values.length}) k
       join ${range.table} ${alias} on ${id} = k.id ${joins} order by k.created_at desc, k.id desc`,
    values,
  )
}

function orderOf({ alias }: Range) {
  const [at, id] = [`${alias}.created_at`, `${alias}.id`]
  return { at, id, order: `order by ${at} desc, ${id} desc` }
}

/** Each part of the union is limited, because the planner does not merge them in their order. */
function rowsOf(range: Range, columns: string, bounds: readonly Condition[], most: number, values: unknown[]): string {
  const { table, alias, within, statuses } = range
  const bind = createBinder(values)
  const common = [...within, ...bounds].map(bind)
  const limited = `${orderOf(range).order} limit $${values.push(most)}`
  const part = (conditions: readonly string[]) =>
    `(select ${columns} from ${table} ${alias} where ${conditions.join(' and ')} ${limited})`
  if (statuses === null) return part(common)
  return statuses.map((status) => part([...common, bind([`${alias}.status = $`, status])])).join(' union all ')
}
