import { type RateQuery, routes } from '@swapyard/schema'
import { type ApiContext, callerOf, mount } from '../mount.ts'
import { presentRateQuote } from '../present.ts'

export function mountRate(context: ApiContext): void {
  const { services } = context
  mount(context, routes.quoteRate, (request, reply) => {
    const query = request.query as RateQuery
    const issued = services.quoteRate(callerOf(request).partner, {
      fromCurrency: query.fromCurrency,
      fromNetwork: query.fromNetwork,
      toCurrency: query.toCurrency,
      toNetwork: query.toNetwork,
      amount: query.amount ?? '1',
      flow: query.flow ?? 'standard',
    })
    reply.header('cache-control', 'no-store')
    return presentRateQuote(issued)
  })
}
