import { ListedExchange, type ListQuery, routes } from '@swapyard/schema'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import { pageLinks, toPage } from '../../core/http/paging.ts'
import { serializerOf } from '../../core/http/serialize.ts'
import { sendRows } from '../../core/http/stream-rows.ts'
import type { ExchangeFilter, ExchangeServices } from '../interfaces.ts'
import { type PresentDeps, presentListedExchange } from './present.ts'

const TICKER = /^[a-z0-9.-]{1,32}$/
/** Matches no currency. Replaces texts that cannot be tickers, so that they never reach the store. */
const NO_TICKER = '-'

export function mountList(context: ApiContext<ExchangeServices>, deps: PresentDeps): void {
  const { services } = context
  mount(context, routes.listExchanges, async (request, reply) => {
    const query = request.query as ListQuery
    const page = toPage(query)
    const { total, rows } = await services.listExchanges(callerOf(request).partner, toFilter(query, services), page)
    if (page) reply.header('link', pageLinks(routes.listExchanges.path, filtersOf(query), page, total))
    reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
    const serialize = serializerOf(reply, ListedExchange)
    return sendRows(reply, `{"total":${total},"data":[`, rows, (view) => serialize(presentListedExchange(view, deps)))
  })
}

function toFilter(query: ListQuery, { resolveNames }: Pick<ExchangeServices, 'resolveNames'>): ExchangeFilter {
  const { status, exchangeType, externalId } = query
  const [from, to] = [
    resolveNames(query.fromCurrency, query.fromNetwork),
    resolveNames(query.toCurrency, query.toNetwork),
  ]
  return {
    ...(status === undefined ? {} : { status }),
    ...(exchangeType === undefined ? {} : { exchangeType }),
    ...(externalId === undefined ? {} : { externalId }),
    ...(from.ticker === undefined ? {} : { fromCurrency: safeTicker(from.ticker) }),
    ...(from.network === undefined ? {} : { fromNetwork: safeTicker(from.network) }),
    ...(to.ticker === undefined ? {} : { toCurrency: safeTicker(to.ticker) }),
    ...(to.network === undefined ? {} : { toNetwork: safeTicker(to.network) }),
  }
}

function safeTicker(text: string): string {
  return TICKER.test(text) ? text : NO_TICKER
}

const filtersOf = ({ page: _page, limit: _limit, ...filters }: ListQuery) => filters
