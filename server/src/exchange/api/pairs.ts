import { type CurrencyPairs, type PairsQuery, routes } from '@swapyard/schema'
import { formatUnits } from '../../core/domain/amount.ts'
import type { Asset } from '../../core/domain/asset.ts'
import { canonicalNetwork, canonicalTicker } from '../../core/domain/catalogue.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { ExchangeServices } from '../interfaces.ts'

export function mountPairs(context: ApiContext<ExchangeServices>): void {
  const { services } = context
  mount(context, routes.listPairs, (request, reply): CurrencyPairs => {
    const query = request.query as PairsQuery
    const [isSource, isTarget] = [
      matcherOf(query.fromCurrency, query.fromNetwork),
      matcherOf(query.toCurrency, query.toNetwork),
    ]
    reply.header('cache-control', 'no-store')
    return services
      .listPairs(callerOf(request).partner, (from, to) => isSource(from) && isTarget(to))
      .map(({ from, to, flows, minUnits, maxUnits }) => ({
        fromCurrency: from.ticker,
        fromNetwork: from.network,
        toCurrency: to.ticker,
        toNetwork: to.network,
        flows: [...flows],
        min: formatUnits(minUnits, from.decimals),
        max: maxUnits === null ? null : formatUnits(maxUnits, from.decimals),
      }))
  })
}

/** An unknown name matches nothing. */
function matcherOf(ticker: string | undefined, network: string | undefined): (asset: Asset) => boolean {
  const [currency, id] = [ticker && canonicalTicker(ticker), network && canonicalNetwork(network)]
  return (asset) => (currency ?? asset.ticker) === asset.ticker && (id ?? asset.network) === asset.network
}
