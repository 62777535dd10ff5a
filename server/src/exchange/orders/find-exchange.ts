import type { Partner } from '../../core/domain/partner.ts'
import { type ListPage, type ListSource, listCounted } from '../../core/services/counted-list.ts'
import type { ExchangeType, ExchangeView } from '../domain/exchange.ts'
import type { ExchangeFilter } from '../interfaces.ts'
import type { Stores } from '../ports/store/store.ts'

export function createFindExchange(store: Stores) {
  return (partner: Partner, id: string, type?: ExchangeType): Promise<ExchangeView | null> =>
    store.exchanges.find(partner.id, id.toLowerCase(), type)
}

/** The partner's exchanges of the last 24 hours. */
export function createListExchanges({ exchanges }: Stores) {
  return (partner: Partner, filter: ExchangeFilter, page: ListPage | null) => {
    const query = { ...filter, partnerId: partner.id }
    const source: ListSource<ExchangeView> = {
      read: (after, limit, offset) => exchanges.list(query, after, limit, offset),
      count: () => exchanges.count(query),
      placeOf: ({ exchange }) => exchange,
    }
    return listCounted(source, page)
  }
}
