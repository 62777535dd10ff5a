import { routes, type StatusQuery } from '@swapyard/schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/domain/errors.ts'
import { sendTagged } from '../../core/http/etag.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import { serializeAnswer } from '../../core/http/serialize.ts'
import type { ExchangeType, ExchangeView } from '../domain/exchange.ts'
import type { ExchangeServices } from '../interfaces.ts'
import { type Listing, presentExchange, presentStatus } from './present.ts'

/** Form of an id. Other texts, such as ones with NUL, never reach the store. */
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
  // One message for an unknown id, one of another partner and one of another type: it must not reveal which.
  if (view === null) {
    const message = `no ${type === undefined ? '' : `${type} `}exchange with this id: check the id and the endpoint`
    throw new AppError('EXCHANGE_NOT_FOUND', message, { field: 'id' })
  }
  return view
}
