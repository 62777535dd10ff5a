import { type PrivateRateQuery, type RateQuery, routes } from '@swapyard/schema'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { ExchangeServices, RateRequest } from '../interfaces.ts'
import { presentPrivateQuote } from './present.ts'
import { rateQuoteText } from './quote-text.ts'

/** `refusals`: quotes that were tried before the request came here, and why they cannot be had. */
export function mountRate(context: ApiContext<ExchangeServices>, refusals: WeakMap<object, unknown>): void {
  const { services } = context
  mount(context, routes.quoteRate, (request, reply) => {
    if (refusals.has(request.raw)) throw refusals.get(request.raw)
    const issued = services.quoteRate(callerOf(request).partner, toRateRequest(request.query as RateQuery))
    reply.headers(quoteHeaders)
    return rateQuoteText(issued)
  })
}

export function mountPrivateRate(context: ApiContext<ExchangeServices>): void {
  const { services } = context
  mount(context, routes.quotePrivateRate, (request, reply) => {
    const { flow: _none, ...asked } = toRateRequest(request.query as RateQuery)
    const { privateType } = request.query as PrivateRateQuery
    const { quote, expectedSeconds } = services.quotePrivate(callerOf(request).partner, { ...asked, privateType })
    reply.header('cache-control', 'no-store')
    return presentPrivateQuote(quote, expectedSeconds)
  })
}

export const quoteHeaders = {
  'cache-control': 'no-store',
  'content-type': 'application/json; charset=utf-8',
} as const

export function toRateRequest(query: RateQuery): RateRequest {
  return {
    fromCurrency: query.fromCurrency,
    fromNetwork: query.fromNetwork,
    toCurrency: query.toCurrency,
    toNetwork: query.toNetwork,
    amount: query.amount ?? '1',
    flow: query.flow ?? 'standard',
  }
}
