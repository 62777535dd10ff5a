import { routes, type TokenQuery, type TokensQuery } from '@swapyard/schema'
import { sendTagged } from '../../core/http/etag.ts'
import { type ApiContext, mount } from '../../core/http/mount.ts'
import { pageLinks, toPageAlways } from '../../core/http/paging.ts'
import { serializeAnswer } from '../../core/http/serialize.ts'
import type { SwapServices, TokenView } from '../interfaces.ts'
import { presentToken } from './present.ts'

export function mountTokens(context: ApiContext<{ swaps: SwapServices }>): void {
  const { services, settings } = context
  const present = (view: TokenView) => presentToken(view, settings.publicUrl)
  mount(context, routes.listTokens, (request, reply) => {
    const query = request.query as TokensQuery
    const listed = services.swaps.listTokens(query.network)
    const page = toPageAlways(query)
    const start = (page.page - 1) * page.limit
    reply.header('x-total-count', String(listed.length))
    reply.header('link', pageLinks(routes.listTokens.path, { network: query.network }, page, listed.length))
    return sendTagged(request, reply, serializeAnswer(reply, listed.slice(start, start + page.limit).map(present)))
  })
  mount(context, routes.listDefiNetworks, (request, reply) =>
    sendTagged(request, reply, serializeAnswer(reply, services.swaps.listNetworks())),
  )
  mount(context, routes.getToken, async (request, reply) => {
    const { network, address } = request.query as TokenQuery
    reply.header('cache-control', 'no-store')
    return present(await services.swaps.readToken(network, address))
  })
}
