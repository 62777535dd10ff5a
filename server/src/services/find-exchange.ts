import type { ExchangeType, ExchangeView } from '../domain/exchange.ts'
import type { Partner } from '../domain/partner.ts'
import type { Stores } from '../ports/store.ts'
import type { ExchangeFilter } from './interfaces.ts'

export function createFindExchange(store: Stores) {
  return (partner: Partner, id: string, type?: ExchangeType): Promise<ExchangeView | null> =>
    store.exchanges.find(partner.id, id.toLowerCase(), type)
}

/** Rows read at once while a whole list is streamed. */
const CHUNK = 500

/** The partner's exchanges of the last 24 hours. Without a page everything is streamed by key range, a chunk at a time. */
export function createListExchanges(store: Stores) {
  return async (partner: Partner, filter: ExchangeFilter, page: { page: number; limit: number } | null) => {
    const query = { ...filter, partnerId: partner.id }
    const total = await store.exchanges.count(query)
    if (page) {
      const rows = await store.exchanges.list(query, null, page.limit, (page.page - 1) * page.limit)
      return {
        total,
        rows: (async function* () {
          yield* rows
        })(),
      }
    }
    return { total, rows: stream(store, query, total) }
  }
}

/** As many as were counted: a row that arrives meanwhile does not make `total` a lie. */
async function* stream(
  store: Stores,
  query: ExchangeFilter & { partnerId: string },
  total: number,
): AsyncGenerator<ExchangeView> {
  let after: { createdAt: Date; id: string } | null = null
  for (let left = total; left > 0; ) {
    const rows: readonly ExchangeView[] = await store.exchanges.list(query, after, Math.min(CHUNK, left), 0)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = { createdAt: last.exchange.createdAt, id: last.exchange.id }
    left -= rows.length
  }
}
