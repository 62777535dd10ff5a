import type { AdminRoute } from '@swapyard/schema'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { charge } from '../../core/http/throttle.ts'
import { knownKeys, unknownKeyProblems, validationError } from '../../core/http/validation.ts'
import type { Throttle } from '../../core/ports/throttle.ts'
import { present } from '../../lib/assert.ts'
import { callerNetwork } from '../../lib/ip-address.ts'
import type { ActionDeps } from '../actions/action.ts'
import type { PasskeyDeps } from '../identity/passkeys.ts'
import type { Live } from '../reads/read.ts'
import type { CarryOut } from '../requests/carry-out.ts'
import {
  authenticateOperator,
  requireNetwork,
  requireOrigin,
  requireRole,
  type SessionSettings,
  type Visitor,
} from './authenticate-operator.ts'
import type { SessionLookUps } from './session-look-ups.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The operator of an admin request. */
    visitor: Visitor | null
  }
}

export type AdminOptions = Readonly<{
  identity: PasskeyDeps
  deps: ActionDeps
  live: Live
  settings: SessionSettings
  twoPersons: boolean
  throttle: Throttle | null
  publicUrl: string
}>

export type AdminContext = AdminOptions &
  Readonly<{ app: FastifyInstance; carryOut: CarryOut; lookUps: SessionLookUps }>

/** Requests a minute of one operator; of one network without a session, and its look-ups of tokens that are no session. */
const OPERATOR_LIMIT = 1_200
export const OPEN_LIMIT = 120

type Serve = (request: FastifyRequest, reply: FastifyReply) => unknown

/** Mounts one operation with its checks: address, origin or session, role, throttle, schemas, unknown members. */
export function mountRoute(context: AdminContext, route: AdminRoute, serve: Serve): void {
  const { app, settings, throttle, lookUps } = context
  const schemas: { query?: TSchema; body?: TSchema } = {
    ...(route.query ? { query: route.query } : {}),
    ...(route.body ? { body: route.body } : {}),
  }
  const known = knownKeys(schemas)
  app.route({
    method: route.method,
    url: route.path,
    schema: {
      ...(route.query ? { querystring: route.query } : {}),
      ...(route.body ? { body: route.body } : {}),
      response: { [route.success.status]: route.success.schema },
    },
    async onRequest(request, reply) {
      request.operation = route.path
      reply.header('cache-control', 'no-store')
      requireNetwork(request, settings)
      if (route.role === 'open') {
        requireOrigin(request, settings)
        if (throttle)
          charge(throttle, reply, { key: `admin:${callerNetwork(request.ip)}`, cost: 1, limitPerMinute: OPEN_LIMIT })
        return
      }
      const visitor = await authenticateOperator(request, lookUps.findWithin(request, reply), settings)
      request.visitor = visitor
      const key = `operator:${visitor.session.operatorId}`
      if (throttle) charge(throttle, reply, { key, cost: 1, limitPerMinute: OPERATOR_LIMIT })
      requireRole(visitor.session, route.role)
    },
    async handler(request, reply) {
      const problems = unknownKeyProblems(request, known)
      if (problems.length > 0) throw validationError(problems)
      reply.code(route.success.status)
      return serve(request, reply)
    },
  })
}

export const visitorOf = (request: FastifyRequest): Visitor =>
  present(request.visitor, 'the operator of an admin route')
