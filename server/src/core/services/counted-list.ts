/** Where a list goes on, in its order: newest first. */
export type ListPlace = Readonly<{ createdAt: Date; id: string }>

/** What a list is read from: at most `limit` rows behind a place, or from an offset on. */
export type ListSource<Row> = Readonly<{
  read(after: ListPlace | null, limit: number, offset: number): Promise<readonly Row[]>
  count(): Promise<number>
  placeOf(row: Row): ListPlace
}>

/** Numbered from 1. */
export type ListPage = Readonly<{ page: number; limit: number }>

/** Rows read at once while a whole list is streamed. */
const CHUNK = 500

/** A page, or the whole list by key range, a chunk at a time; and how many rows there are in all. */
export async function listCounted<Row>(
  source: ListSource<Row>,
  page: ListPage | null,
): Promise<{ total: number; rows: AsyncGenerator<Row> }> {
  const limit = page?.limit ?? CHUNK
  const offset = page === null ? 0 : (page.page - 1) * page.limit
  const first = await source.read(null, limit, offset)
  // Where the end is in sight the rows themselves are the count, whatever has moved on meanwhile.
  const isLast = first.length < limit && (first.length > 0 || offset === 0)
  const total = isLast ? offset + first.length : await source.count()
  return { total, rows: stream(source, first, page === null ? total : first.length) }
}

/** As many as were counted: a row that arrives meanwhile does not make `total` a lie. */
async function* stream<Row>(source: ListSource<Row>, first: readonly Row[], most: number): AsyncGenerator<Row> {
  let rows = first
  for (let left = most; left > 0; ) {
    yield* rows.slice(0, left)
    left -= rows.length
    const last = rows.at(-1)
    if (last === undefined || left <= 0) return
    rows = await source.read(source.placeOf(last), Math.min(CHUNK, left), 0)
  }
}
