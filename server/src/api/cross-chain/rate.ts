import { type RateQuery, routes } from '@swapyard/schema'
import { type ApiContext, callerOf, mount } from '../mount.ts'
import { presentRateQuote } from '../present.ts'
import { sendText } from '../send-text.ts'
import { serializeAnswer } from '../serialize.ts'

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
    sendText(reply, serializeAnswer(reply, presentRateQuote(issued)))
  })
}
