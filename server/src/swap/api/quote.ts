import { routes, type SwapQuoteQuery } from '@swapyard/schema'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { SwapServices } from '../interfaces.ts'
import { presentQuote } from './present.ts'

export function mountSwapQuote(context: ApiContext<{ swaps: SwapServices }>): void {
  const { services } = context
  mount(context, routes.quoteSwap, async (request, reply) => {
    const query = request.query as SwapQuoteQuery
    const { network, fromTokenAddress, toTokenAddress, amount, slippage, referrerFee, maxPriceImpact } = query
    const swapRequest = {
      ...{ network, fromTokenAddress, toTokenAddress, amount, slippage, referrerFee },
      ...(maxPriceImpact === undefined ? {} : { maxPriceImpact }),
    }
    reply.header('cache-control', 'no-store')
    return presentQuote(await services.swaps.quoteSwap(callerOf(request).partner, swapRequest))
  })
}
