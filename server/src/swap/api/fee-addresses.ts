import { routes, type SetFeeAddressBody } from '@swapyard/schema'
import { readIdempotency } from '../../core/http/idempotency.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { SwapServices } from '../interfaces.ts'

export function mountFeeAddresses(context: ApiContext<{ swaps: SwapServices }>): void {
  const { swaps } = context.services
  mount(context, routes.listFeeAddresses, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    return { data: await swaps.listFeeAddresses(callerOf(request).partner) }
  })
  mount(context, routes.setFeeAddress, async (request, reply) => {
    const { network, address } = request.body as SetFeeAddressBody
    const idempotency = readIdempotency(request, routes.setFeeAddress)
    const set = await swaps.setFeeAddress(callerOf(request), { network, address }, idempotency)
    reply.code(201).header('cache-control', 'no-store')
    return set
  })
}
