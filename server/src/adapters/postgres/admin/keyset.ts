import type { PageRequest, Rows } from '../../../admin/ports/lists.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { Sql } from '../core/database.ts'

type Row = Readonly<Record<string, unknown>>
/** A row with its place in the order: what a cursor names. */
export type PlacedRow = Row & Readonly<{ position: string }>

/** SQL with a `$` for each of its values. */
export type Condition = readonly [text: string, ...values: unknown[]]

/** Numbers the parameters of conditions, and adds their values to `values`. */
export const createBinder =
  (values: unknown[]) =>
  ([text, ...given]: Condition): string => {
    const rest = [...given]
    return text.replace(/\$/g, () => `$${values.push(rest.shift())}`)
  }

/** `at` and `id` are the columns of the order, newest first unless `ascending`. */
type Query = Readonly<{
  /** Select list and tables. */
  select: string
  at: string
  id: string
  ascending?: boolean
  where: readonly Condition[]
}>

const notACursor = () =>
  new AppError('VALIDATION_ERROR', 'cursor is not one of this list: use `next` of a page', { field: 'cursor' })

const CURSOR = /^(-?\d{1,18})_([0-9a-f-]{1,40})$/
const SINCE_1970 = "timestamptz '1970-01-01 00:00:00Z'"

/** SQL of the place of a row. It has microseconds. */
export const placeOf = (at: string, id: string): string =>
  `(extract(epoch from ${at}) * 1000000)::bigint || '_' || ${id}`

/** Compares rows with a place by a row comparison, which an index on both columns serves. */
export function comparePlace(at: string, id: string, sign: '<' | '>' | '>=', position: string): Condition {
  const [, micros, last] = CURSOR.exec(position) ?? []
  if (micros === undefined) throw notACursor()
  return [`(${at}, ${id}) ${sign} (${SINCE_1970} + $::bigint * interval '1 microsecond', $)`, micros, last]
}

export const readPage = async (sql: Sql, query: Query, page: PageRequest): Promise<Rows> =>
  toRows(await readRows(sql, query, page), page.limit)

/** Newest first. */
export function compareRows(a: PlacedRow, b: PlacedRow): number {
  const [[atA = '', idA = ''], [atB = '', idB = '']] = [a.position.split('_'), b.position.split('_')]
  if (atA !== atB) return BigInt(atA) > BigInt(atB) ? -1 : 1
  return idA > idB ? -1 : 1
}

/** Rows after the cursor, one more than the page has. */
export async function readRows(sql: Sql, query: Query, { cursor, limit }: PageRequest): Promise<readonly PlacedRow[]> {
  const { select, at, id, where, ascending = false } = query
  const values: unknown[] = []
  const after = cursor === null ? [] : [comparePlace(at, id, ascending ? '>' : '<', cursor)]
  const conditions = [...where, ...after].map(createBinder(values))
  const direction = ascending ? 'asc' : 'desc'
  values.push(limit + 1)
  return sql.query<PlacedRow>(
    `select ${placeOf(at, id)} as position, ${select}
     ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
     order by ${at} ${direction}, ${id} ${direction} limit $${values.length}`,
    values,
  )
}

/** One row more than the page was read. `stop` is where the page stopped before the end of its range. */
export function toRows(rows: readonly PlacedRow[], limit: number, stop: string | null = null): Rows {
  const shown = rows.slice(0, limit)
  return {
    data: shown.map(({ position: _, ...row }) => row),
    next: rows.length > limit ? (shown.at(-1)?.position ?? null) : stop,
  }
}

/** For lists in the order of a number. */
export function readNumber(cursor: string | null): string | null {
  if (cursor !== null && !/^\d{1,18}$/.test(cursor)) throw notACursor()
  return cursor
}
