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
  at: string | readonly [first: string, second: string]
  id: string
  ascending?: boolean
  where: readonly Condition[]
}>

const notACursor = () =>
  new AppError('VALIDATION_ERROR', 'cursor is not one of this list: use `next` of a page', { field: 'cursor' })

const CURSOR = /^((?:-?\d{1,18}_){1,2})([0-9a-f-]{1,40})$/
const SINCE_1970 = "timestamptz '1970-01-01 00:00:00Z'"
const toTime = `(${SINCE_1970} + $::bigint * interval '1 microsecond')`

const timesOf = (at: Query['at']): readonly string[] => (typeof at === 'string' ? [at] : at)

/** SQL of the place of a row. Its times have microseconds. */
export const placeOf = (at: Query['at'], id: string): string =>
  [...timesOf(at).map((time) => `(extract(epoch from ${time}) * 1000000)::bigint`), id].join(" || '_' || ")

/** Compares rows with a place by a row comparison, which an index on both columns serves. */
export function comparePlace(at: Query['at'], id: string, sign: '<' | '>' | '>=', position: string): Condition {
  const [, micros = '', last] = CURSOR.exec(position) ?? []
  const [times, given] = [timesOf(at), micros.split('_').slice(0, -1)]
  if (given.length !== times.length) throw notACursor()
  return [`(${[...times, id].join(', ')}) ${sign} (${[...times.map(() => toTime), '$'].join(', ')})`, ...given, last]
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
     order by ${[...timesOf(at), id].map((column) => `${column} ${direction}`).join(', ')} limit $${values.length}`,
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

/** For lists in the order of a text: its place is the text, encoded. */
export const placeOfText = (text: string): string => Buffer.from(text).toString('base64url')

export function readText(cursor: string | null): string | null {
  if (cursor === null) return null
  const text = Buffer.from(cursor, 'base64url').toString()
  if (placeOfText(text) !== cursor || text.includes('\0')) throw notACursor()
  return text
}
