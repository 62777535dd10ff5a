import { type PrivateRateQuery, type RateQuery, routes } from '@swapyard/schema'
import { AppError } from '../../core/domain/errors.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { ExchangeServices, PairIdentities, RateRequest } from '../interfaces.ts'
import { presentPrivateQuote, presentRateQuote } from './present.ts'

export function mountRate(context: ApiContext<ExchangeServices>): void {
  const { services } = context
  mount(context, routes.quoteRate, (request, reply) => {
    const issued = services.quoteRate(callerOf(request).partner, toRateRequest(request.query as RateQuery))
    reply.header('cache-control', 'no-store')
    return presentRateQuote(issued)
  })
}

export function mountPrivateRate(context: ApiContext<ExchangeServices>): void {
  const { services } = context
  mount(context, routes.quotePrivateRate, (request, reply) => {
    const { flow: _flow, ...terms } = toRateRequest(request.query as RateQuery)
    const { privateType } = request.query as PrivateRateQuery
    const quote = services.quotePrivate(callerOf(request).partner, { ...terms, privateType })
    reply.header('cache-control', 'no-store')
    return presentPrivateQuote(quote)
  })
}

function toRateRequest(query: RateQuery): RateRequest {
  const { fromCurrency, fromNetwork, toCurrency, toNetwork, amount, toAmount, flow = 'standard' } = query
  const pair = { fromCurrency, fromNetwork, toCurrency, toNetwork, flow, ...identitiesOf(query) }
  if (toAmount === undefined) return { ...pair, amount: amount ?? '1', amountOf: 'from' }
  if (amount === undefined) return { ...pair, amount: toAmount, amountOf: 'to' }
  throw new AppError('VALIDATION_ERROR', 'amount and toAmount were both sent: send one of them', { field: 'toAmount' })
}

/** Known members only. */
export const identitiesOf = ({ fromContractAddress, fromChainId, toContractAddress, toChainId }: PairIdentities) => ({
  ...{ fromContractAddress, fromChainId, toContractAddress, toChainId },
})
