import { routes, type StatusQuery } from '@swapyard/schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/domain/errors.ts'
import { sendTagged } from '../../core/http/etag.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import { serializeAnswer } from '../../core/http/serialize.ts'
import type { ExchangeType, ExchangeView } from '../domain/exchange.ts'
import type { ExchangeServices } from '../interfaces.ts'
import { type Listing, presentExchange, presentStatus } from './present.ts'

/** What an id of ours can look like. Anything else is not there: the store is not asked, NUL and the like never reach it. */
const ID = /^[A-Za-z0-9_-]{1,64}$/

export function mountStatus(context: ApiContext<ExchangeServices>, listing: Listing): void {
  mount(context, routes.getExchangeStatus, async (request, reply) =>
    send(request, reply, presentStatus(await find(context, request), listing)),
  )
  mount(context, routes.getStandardExchangeStatus, async (request, reply) =>
    send(request, reply, presentExchange(await find(context, request, 'standard'), listing)),
  )
  mount(context, routes.getPrivateExchangeStatus, async (request, reply) =>
    send(request, reply, presentExchange(await find(context, request, 'private'), listing)),
  )
}

function send(request: FastifyRequest, reply: FastifyReply, answer: object): FastifyReply {
  return sendTagged(request, reply, serializeAnswer(reply, answer))
}

async function find(
  { services }: ApiContext<ExchangeServices>,
  request: FastifyRequest,
  type?: ExchangeType,
): Promise<ExchangeView> {
  const { id } = request.query as StatusQuery
  const view = ID.test(id) ? await services.findExchange(callerOf(request).partner, id, type) : null
  // The same words for an id that never was, one of another partner, and one of another kind.
  if (view === null) throw new AppError('EXCHANGE_NOT_FOUND', 'there is no such exchange', { field: 'id' })
  return view
}
