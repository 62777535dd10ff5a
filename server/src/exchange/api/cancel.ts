import { type CancelExchangeBody, routes } from '@swapyard/schema'
import { readIdempotency } from '../../core/http/idempotency.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { ExchangeServices } from '../interfaces.ts'

export function mountCancel(context: ApiContext<ExchangeServices>): void {
  const route = routes.cancelExchange
  const { services } = context
  mount(context, route, async (request, reply) => {
    const { partner } = callerOf(request)
    const { id } = request.body as CancelExchangeBody
    const answer = await services.withIdempotency(partner, readIdempotency(request, route), async () => {
      await services.cancelExchange(partner, id)
      return JSON.stringify({ id, status: 'failed', statusReason: 'CANCELLED' })
    })
    reply.code(201).header('cache-control', 'no-store')
    return JSON.parse(answer)
  })
}
