import type { ExchangeType, ExchangeView } from '../domain/exchange.ts'
import type { Partner } from '../domain/partner.ts'
import type { ExchangeQuery, Stores } from '../ports/store.ts'
import type { ExchangeFilter } from './interfaces.ts'

export function createFindExchange(store: Stores) {
  return (partner: Partner, id: string, type?: ExchangeType): Promise<ExchangeView | null> =>
    store.exchanges.find(partner.id, id.toLowerCase(), type)
}

type Reading = Pick<Stores, 'exchanges'>

/** Rows read at once while a whole list is streamed. */
const CHUNK = 500

/** The partner's exchanges of the last 24 hours. Without a page everything is streamed by key range, a chunk at a time. */
export function createListExchanges(store: Reading) {
  return async (partner: Partner, filter: ExchangeFilter, page: { page: number; limit: number } | null) => {
    const query = { ...filter, partnerId: partner.id }
    const limit = page?.limit ?? CHUNK
    const offset = page === null ? 0 : (page.page - 1) * page.limit
    const first = await store.exchanges.list(query, null, limit, offset)
    // Where the end is in sight the rows themselves are the count, whatever has moved on meanwhile.
    const isLast = first.length < limit && (first.length > 0 || offset === 0)
    const total = isLast ? offset + first.length : await store.exchanges.count(query)
    return { total, rows: stream(store, query, first, page === null ? total : first.length) }
  }
}

/** As many as were counted: a row that arrives meanwhile does not make `total` a lie. */
async function* stream(
  store: Reading,
  query: ExchangeQuery,
  first: readonly ExchangeView[],
  most: number,
): AsyncGenerator<ExchangeView> {
  let rows = first
  for (let left = most; left > 0; ) {
    yield* rows.slice(0, left)
    left -= rows.length
    const last = rows.at(-1)
    if (!last || left <= 0) return
    const after = { createdAt: last.exchange.createdAt, id: last.exchange.id }
    rows = await store.exchanges.list(query, after, Math.min(CHUNK, left), 0)
  }
}
