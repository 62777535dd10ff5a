import { type NameRefundAddressBody, routes } from '@swapyard/schema'
import { readIdempotency } from '../../core/http/idempotency.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { ExchangeServices } from '../interfaces.ts'

export function mountRefundAddress(context: ApiContext<ExchangeServices>): void {
  const route = routes.nameRefundAddress
  const { services } = context
  mount(context, route, async (request, reply) => {
    const { partner } = callerOf(request)
    const { id, refundAddress, refundMemo } = request.body as NameRefundAddressBody
    const answer = await services.withIdempotency(partner, readIdempotency(request, route), async () => {
      const { address, memo } = await services.nameRefundAddress(partner, { id, refundAddress, refundMemo })
      return JSON.stringify({ id, refundAddress: address, refundMemo: memo })
    })
    reply.code(201).header('cache-control', 'no-store')
    return JSON.parse(answer)
  })
}
