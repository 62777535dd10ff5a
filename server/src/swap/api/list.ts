import { DexExchange, routes, type SwapListQuery } from '@swapyard/schema'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import { pageLinks, toPage } from '../../core/http/paging.ts'
import { serializerOf } from '../../core/http/serialize.ts'
import { sendRows } from '../../core/http/stream-rows.ts'
import type { SwapServices } from '../interfaces.ts'
import { presentSwap } from './present.ts'

export function mountSwapList(context: ApiContext<{ swaps: SwapServices }>): void {
  const { services } = context
  mount(context, routes.listSwaps, async (request, reply) => {
    const query = request.query as SwapListQuery
    const filter = filterOf(query)
    const page = toPage(query)
    const { total, rows } = await services.swaps.listSwaps(callerOf(request).partner, filter, page)
    if (page) reply.header('link', pageLinks(routes.listSwaps.path, filter, page, total))
    reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
    const serialize = serializerOf(reply, DexExchange)
    return sendRows(reply, `{"total":${total},"exchanges":[`, rows, (view) => serialize(presentSwap(view)))
  })
}

function filterOf({ status, fromTokenAddress, toTokenAddress, network, hash, account, externalId }: SwapListQuery) {
  return {
    ...(externalId === undefined ? {} : { externalId }),
    ...(status === undefined ? {} : { status }),
    ...(fromTokenAddress === undefined ? {} : { fromTokenAddress }),
    ...(toTokenAddress === undefined ? {} : { toTokenAddress }),
    ...(network === undefined ? {} : { network }),
    ...(hash === undefined ? {} : { hash }),
    ...(account === undefined ? {} : { account }),
  }
}
