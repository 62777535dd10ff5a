import { type CurrencyPairs, type PairsQuery, routes } from '@swapyard/schema'
import { formatUnits } from '../../core/domain/amount.ts'
import type { Asset } from '../../core/domain/asset.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { ExchangeServices, ResolvedNames } from '../interfaces.ts'

export function mountPairs(context: ApiContext<ExchangeServices>): void {
  const { services } = context
  mount(context, routes.listPairs, (request, reply): CurrencyPairs => {
    const query = request.query as PairsQuery
    const [isSource, isTarget] = [
      matcherOf(services.resolveNames(query.fromCurrency, query.fromNetwork)),
      matcherOf(services.resolveNames(query.toCurrency, query.toNetwork)),
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
function matcherOf({ ticker, network }: ResolvedNames): (asset: Asset) => boolean {
  return (asset) => (ticker ?? asset.ticker) === asset.ticker && (network ?? asset.network) === asset.network
}
