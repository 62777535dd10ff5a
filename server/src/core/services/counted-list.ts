/** The last row of a chunk; the next chunk continues after it, newest first. */
export type ListPlace = Readonly<{ createdAt: Date; id: string }>

/** The source of a list: at most `limit` rows after a row, or from an offset. */
export type ListSource<Row> = Readonly<{
  read(after: ListPlace | null, limit: number, offset: number): Promise<readonly Row[]>
  count(): Promise<number>
  placeOf(row: Row): ListPlace
}>

/** The first page is 1. */
export type ListPage = Readonly<{ page: number; limit: number }>

/** Rows per query while a complete list is streamed. */
const CHUNK = 500

/** Reads a page, or the complete list in chunks by key range, with the total number of rows. */
export async function listCounted<Row>(
  source: ListSource<Row>,
  page: ListPage | null,
): Promise<{ total: number; rows: AsyncGenerator<Row> }> {
  const limit = page?.limit ?? CHUNK
  const offset = page === null ? 0 : (page.page - 1) * page.limit
  const first = await source.read(null, limit, offset)
  // If the list ends within this chunk, its rows are the count, also if rows changed since.
  const isLast = first.length < limit && (first.length > 0 || offset === 0)
  const total = isLast ? offset + first.length : await source.count()
  return { total, rows: stream(source, first, page === null ? total : first.length) }
}

/** Yields as many rows as were counted, so that `total` is right although rows may arrive meanwhile. */
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
