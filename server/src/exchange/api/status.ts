import { type AnyStatusQuery, ExchangeStatusList, routes, STATUS_IDS_MAX, type StatusQuery } from '@swapyard/schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/domain/errors.ts'
import { sendTagged } from '../../core/http/etag.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import { serializeAnswer, serializerOf } from '../../core/http/serialize.ts'
import { charge } from '../../core/http/throttle.ts'
import type { ExchangeType, ExchangeView } from '../domain/exchange.ts'
import type { ExchangeServices } from '../interfaces.ts'
import { type PresentDeps, presentExchange, presentStatus } from './present.ts'

/** Form of an id. Other texts, such as ones with NUL, never reach the store. */
const ID = /^[A-Za-z0-9_-]{1,64}$/

export function mountStatus(context: ApiContext<ExchangeServices>, deps: PresentDeps): void {
  mount(context, routes.getExchangeStatus, async (request, reply) => {
    const { id, ids } = request.query as AnyStatusQuery
    if (ids !== undefined) return sendSeveral(context, request, reply, deps)
    if (id === undefined) throw invalidQuery('id', 'id is required, or ids')
    return send(request, reply, presentStatus(await find(context, request), deps))
  })
  mount(context, routes.getStandardExchangeStatus, async (request, reply) =>
    send(request, reply, presentExchange(await find(context, request, 'standard'), deps)),
  )
  mount(context, routes.getPrivateExchangeStatus, async (request, reply) =>
    send(request, reply, presentExchange(await find(context, request, 'private'), deps)),
  )
}

function send(request: FastifyRequest, reply: FastifyReply, answer: object): FastifyReply {
  return sendTagged(request, reply, serializeAnswer(reply, answer))
}

/** Ids in one request that cost as much as a single one. */
const IDS_PER_UNIT = 10

async function sendSeveral(
  { services, settings }: ApiContext<ExchangeServices>,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PresentDeps,
): Promise<FastifyReply> {
  const { partner } = callerOf(request)
  const ids = readIds(request.query as AnyStatusQuery)
  const cost = Math.ceil(ids.length / IDS_PER_UNIT) - 1
  if (settings.throttle && cost > 0)
    charge(settings.throttle, reply, { key: partner.id, cost, limitPerMinute: partner.rateLimitPerMinute })
  const known = ids.filter((id) => ID.test(id))
  const views = await Promise.all(known.map((id) => services.findExchange(partner, id)))
  const data = views.flatMap((view) => (view === null ? [] : [presentStatus(view, deps)]))
  return sendTagged(request, reply, serializerOf(reply, ExchangeStatusList)({ data }))
}

/** Without duplicates and empty parts. */
function readIds({ id, ids = '' }: AnyStatusQuery): readonly string[] {
  if (id !== undefined) throw invalidQuery('ids', 'id and ids cannot be sent together')
  const list = ids.split(',').map((one) => one.trim())
  const distinct = [...new Set(list.filter((one) => one !== ''))]
  if (distinct.length === 0) throw invalidQuery('ids', 'ids must name at least one exchange')
  if (distinct.length > STATUS_IDS_MAX) throw invalidQuery('ids', `ids must name at most ${STATUS_IDS_MAX} exchanges`)
  return distinct
}

const invalidQuery = (field: string, message: string) => new AppError('VALIDATION_ERROR', message, { field })

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
