import { type RateQuery, routes } from '@swapyard/schema'
import { type ApiContext, callerOf, mount } from '../mount.ts'
import { rateQuoteText } from '../quote-text.ts'

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
    reply.header('content-type', 'application/json; charset=utf-8')
    return rateQuoteText(issued)
  })
}
