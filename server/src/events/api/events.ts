import { type EventsQuery, routes } from '@swapyard/schema'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/domain/errors.ts'
import { checkAccess, readKey } from '../../core/http/auth.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { EventServices } from '../interfaces.ts'

export function mountEvents(context: ApiContext<{ events: EventServices }>): void {
  const { services } = context
  const route = routes.streamEvents

  /** Whether a new request with the same key would be admitted. A database that does not answer revokes no key. */
  async function isAllowed(request: FastifyRequest): Promise<boolean> {
    try {
      checkAccess(await services.authenticate(readKey(request), request.ip), route.access)
      return true
    } catch (error) {
      return error instanceof AppError && error.retryable
    }
  }

  mount(context, route, async (request, reply) => {
    // Proxies must neither store nor buffer it.
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' }
    reply.header('cache-control', 'no-store')
    if (request.method === 'HEAD') return reply.headers(headers).send('')
    const { lastEventId = null } = request.query as EventsQuery
    const header = request.headers['last-event-id']
    const last = header === undefined || header === '' ? lastEventId : String(header)
    const stream = await services.events.streams.open(callerOf(request), last, () => isAllowed(request))
    // Not before: an error is no stream.
    return reply.headers(headers).send(stream)
  })
}
