import type { PageRequest, Rows } from '../../../admin/ports/lists.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { Sql } from '../core/database.ts'

type Row = Readonly<Record<string, unknown>>

/** `at` and `id` are the columns of the order, newest first unless `ascending`. */
type Query = Readonly<{
  /** Select list and tables. */
  select: string
  at: string
  id: string
  ascending?: boolean
  where: readonly string[]
  values: readonly unknown[]
}>

const notACursor = () =>
  new AppError('VALIDATION_ERROR', 'cursor is not one of this list: use `next` of a page', { field: 'cursor' })

const CURSOR = /^(-?\d{1,18})_([0-9a-f-]{1,40})$/
const SINCE_1970 = "timestamptz '1970-01-01 00:00:00Z'"

export const readPage = async (sql: Sql, query: Query, page: PageRequest): Promise<Rows> =>
  toRows(await readRows(sql, query, page), page.limit)

/** A page of the rows of both, which have none in common, newest first. */
export async function readMergedPage(sql: Sql, queries: readonly [Query, Query], page: PageRequest): Promise<Rows> {
  const found = await Promise.all(queries.map((query) => readRows(sql, query, page)))
  return toRows(found.flat().toSorted(newestFirst), page.limit)
}

function newestFirst(a: Readonly<{ position: string }>, b: Readonly<{ position: string }>): number {
  const [[atA = '', idA = ''], [atB = '', idB = '']] = [a.position.split('_'), b.position.split('_')]
  if (atA !== atB) return BigInt(atA) > BigInt(atB) ? -1 : 1
  return idA > idB ? -1 : 1
}

/** Rows after the cursor by a row comparison, which an index on both columns serves. The cursor has microseconds. */
async function readRows(sql: Sql, query: Query, { cursor, limit }: PageRequest) {
  const { select, at, id, where, values, ascending = false } = query
  const [, micros, last] = (cursor === null ? null : CURSOR.exec(cursor)) ?? []
  if (cursor !== null && micros === undefined) throw notACursor()
  const given = [...values, ...(micros === undefined ? [] : [micros, last]), limit + 1]
  const n = values.length
  const after =
    micros === undefined
      ? []
      : [
          `(${at}, ${id}) ${ascending ? '>' : '<'} (${SINCE_1970} + $${n + 1}::bigint * interval '1 microsecond', $${n + 2})`,
        ]
  const conditions = [...where, ...after]
  const direction = ascending ? 'asc' : 'desc'
  return sql.query<Row & { position: string }>(
    `select (extract(epoch from ${at}) * 1000000)::bigint || '_' || ${id} as position, ${select}
     ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
     order by ${at} ${direction}, ${id} ${direction} limit $${given.length}`,
    given,
  )
}

/** One row more than the page was read. */
export function toRows(rows: readonly (Row & { position: string })[], limit: number): Rows {
  const shown = rows.slice(0, limit)
  return {
    data: shown.map(({ position: _, ...row }) => row),
    next: rows.length > limit ? (shown.at(-1)?.position ?? null) : null,
  }
}

/** For lists in the order of a number. */
export function readNumber(cursor: string | null): string | null {
  if (cursor !== null && !/^\d{1,18}$/.test(cursor)) throw notACursor()
  return cursor
}
