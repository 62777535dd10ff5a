import { routes, type SwapStatusQuery } from '@swapyard/schema'
import { AppError } from '../../core/domain/errors.ts'
import { sendTagged } from '../../core/http/etag.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import { serializeAnswer } from '../../core/http/serialize.ts'
import type { SwapServices } from '../interfaces.ts'
import { presentSwap } from './present.ts'

export function mountSwapStatus(context: ApiContext<{ swaps: SwapServices }>): void {
  const { swaps } = context.services
  mount(context, routes.getSwapStatus, async (request, reply) => {
    const { id, hash } = request.query as SwapStatusQuery
    const [field, value] = id === undefined ? (['hash', hash] as const) : (['id', id] as const)
    if (value === undefined || (id !== undefined && hash !== undefined))
      throw new AppError('VALIDATION_ERROR', 'id or hash is required, and not both', { field: 'id' })
    const view = await swaps.findSwap(callerOf(request).partner, { [field]: value })
    // One message for an unknown swap and one of another partner: it must not reveal which.
    if (view === null) throw new AppError('EXCHANGE_NOT_FOUND', `no swap with this ${field}: check it`, { field })
    return sendTagged(request, reply, serializeAnswer(reply, presentSwap(view)))
  })
}
