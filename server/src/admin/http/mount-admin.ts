import {
  type AdminActionName,
  type AdminReadName,
  adminActionRoutes,
  adminActions,
  adminOpenApiDocument,
  adminReadRoutes,
  adminRoutes,
} from '@swapyard/schema'
import type { FastifyInstance } from 'fastify'
import { createStaticText, sendStaticBody } from '../../core/http/static-files.ts'
import type { Query } from '../reads/read.ts'
import { read } from '../reads/reads.ts'
import { createSums } from '../reads/sums.ts'
import { createCarryOut } from '../requests/carry-out.ts'
import { requireConfirmed } from './authenticate-operator.ts'
import { type AdminContext, type AdminOptions, mountRoute, OPEN_LIMIT, visitorOf } from './mount-route.ts'
import { createSessionLookUps } from './session-look-ups.ts'
import { mountSessions } from './session-routes.ts'

/** Mounts the admin API and its OpenAPI document. */
export function mountAdmin(app: FastifyInstance, options: AdminOptions): void {
  const { identity, deps, twoPersons, publicUrl, settings, throttle } = options
  app.decorateRequest('visitor', null)
  const carryOut = createCarryOut({ store: identity.store, deps, twoPersons })
  const lookUps = createSessionLookUps({
    ...{ sessions: identity.store.sessions, throttle, limitPerMinute: OPEN_LIMIT, idleMs: settings.idleMs },
  })
  const context: AdminContext = { ...options, app, carryOut, lookUps }
  mountSessions(context)
  mountReads(context)
  mountActions(context)
  const document = createStaticText(
    JSON.stringify(adminOpenApiDocument(adminRoutes, { serverUrl: publicUrl, cookie: settings.cookie })),
    'application/json; charset=utf-8',
  )
  app.get('/admin/openapi.json', async (request, reply) => {
    request.operation = '/admin/openapi.json'
    return sendStaticBody(await document(), request, reply, 'no-cache')
  })
}

function mountReads(context: AdminContext): void {
  const { identity, deps, twoPersons, live } = context
  const sums = createSums()
  for (const [name, route] of Object.entries(adminReadRoutes))
    mountRoute(context, route, (request) => {
      const { session } = visitorOf(request)
      const reader = { session, role: session.role }
      const readContext = { store: identity.store, deps, twoPersons, live, sums, reader }
      return read(name as AdminReadName, readContext, request.query as Query)
    })
}

type ActionBody = Readonly<{ reason: string; preview?: boolean; [name: string]: unknown }>

function mountActions(context: AdminContext): void {
  for (const [key, route] of Object.entries(adminActionRoutes)) {
    const action = key as AdminActionName
    mountRoute(context, route, (request) => {
      const { session } = visitorOf(request)
      const { reason, preview = false, ...given } = request.body as ActionBody
      // Also where a second person approves: a stolen session must not fill the list of requests.
      if (adminActions[action].twoPersons && !preview) requireConfirmed(session)
      return context.carryOut.ask({ action, arguments: given, reason, preview }, session)
    })
  }
}
