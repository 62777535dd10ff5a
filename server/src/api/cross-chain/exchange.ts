import { type CreateExchangeBody, routes } from '@swapyard/schema'
import type { ExchangeOrder } from '../../services/interfaces.ts'
import { readIdempotency } from '../idempotency.ts'
import { type ApiContext, callerOf, mount } from '../mount.ts'
import { type MemoRule, presentCreated } from '../present.ts'

export function mountExchange(context: ApiContext, requiresMemo: MemoRule): void {
  const { services, settings } = context
  const route = routes.createExchange
  mount(
    context,
    route,
    async (request, reply) => {
      const order = toOrder(request.body as CreateExchangeBody)
      const view = await services.createExchange(callerOf(request).partner, order, readIdempotency(request, route))
      reply.code(201).header('cache-control', 'no-store')
      return presentCreated(view, requiresMemo)
    },
    { handlerTimeout: settings.createTimeoutMs },
  )
}

/** Member by member: nothing else of the body is ever bound. */
function toOrder(body: CreateExchangeBody): ExchangeOrder {
  const { address, memo, refundAddress, refundMemo, rateId } = body
  return {
    fromCurrency: body.fromCurrency,
    fromNetwork: body.fromNetwork,
    toCurrency: body.toCurrency,
    toNetwork: body.toNetwork,
    fromAmount: body.fromAmount,
    flow: body.flow,
    ...(address === undefined ? {} : { address }),
    ...(memo === undefined ? {} : { memo }),
    ...(refundAddress === undefined ? {} : { refundAddress }),
    ...(refundMemo === undefined ? {} : { refundMemo }),
    ...(rateId === undefined ? {} : { rateId }),
  }
}
