import { type RouteDefinition, routes } from '@swapyard/schema'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { present } from '../../lib/assert.ts'
import { callerNetwork } from '../../lib/ip-address.ts'
import type { Caller } from '../domain/partner.ts'
import type { CoreServices } from '../services/interfaces.ts'
import { checkAccess, readKey } from './auth.ts'
import { admitPage, openToPages } from './cors.ts'
import type { ApiSettings, HttpLog, HttpMetrics } from './settings.ts'
import { type Charge, charge } from './throttle.ts'
import { type KnownKeys, knownKeys, unknownKeyProblems, validationError } from './validation.ts'

/** Passed to every route file. `S`: the services of its half. */
export type ApiContext<S = unknown> = Readonly<{
  app: FastifyInstance
  services: CoreServices & S
  settings: ApiSettings
  metrics: HttpMetrics
  log: HttpLog
}>

/** `{id}` of OpenAPI is `:id` of the router. */
const toPattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

type Serve = (request: FastifyRequest, reply: FastifyReply) => unknown

/** Mounts one operation of the route table with its key check, scope, throttle and schemas. */
export function mount(context: ApiContext, route: RouteDefinition, serve: Serve): void {
  const known = knownKeys(route)
  const response = Object.fromEntries(
    Object.entries(route.success).flatMap(([status, { schema }]) => (schema ? [[status, schema]] : [])),
  )
  context.app.route({
    method: route.method,
    url: toPattern(route.path),
    schema: {
      ...(route.query ? { querystring: route.query } : {}),
      ...(route.body ? { body: route.body } : {}),
      response,
    },
    onRequest: route.access === 'public' ? throttlePublic(context, route) : requireKey(context, route, known),
    handler: (request, reply) => {
      if (request.caller?.partner.strict) {
        const problems = unknownKeyProblems(request, known)
        if (problems.length > 0) throw validationError(problems)
      }
      return serve(request, reply)
    },
  })
}

export function callerOf(request: FastifyRequest): Caller {
  return present(request.caller, 'the caller of a keyed route')
}

type RequestHook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/** Synchronous if the key is cached: a promise would cost more than the check. */
function requireKey({ services, settings }: ApiContext, route: RouteDefinition, known: KnownKeys): RequestHook {
  const { throttle } = settings
  const ownOrigin = new URL(settings.publicUrl).origin
  const admit = (caller: Caller, request: FastifyRequest, reply: FastifyReply): void => {
    request.caller = caller
    request.known = known
    admitPage(caller, request, reply, route, ownOrigin)
    // Before the scope check, so that requests without the scope are throttled, too.
    if (throttle) charge(throttle, reply, ...chargesOf(caller, request.ip, route.cost))
    checkAccess(caller, route.access)
  }
  return (request, reply, done) => {
    request.operation = route.path
    const found = services.authenticate(readKey(request), request.ip)
    if (found instanceof Promise) {
      found.then((caller) => admit(caller, request, reply)).then(() => done(), done)
    } else {
      admit(found, request, reply)
      done()
    }
  }
}

/** Weight per minute of one client address with a publishable key: two quotes and a create every ten seconds. */
const CLIENT_LIMIT = 360
/** One create and ten quotes: below this, a limit per client address would refuse an ordinary visitor. */
const SMALLEST_CLIENT_LIMIT = 100
/** The pages of a publishable key use at most a quarter of the partner's limit, apart from its own requests, and a client a quarter of that. */
const SHARES = 4
/** Below the cost of a create no page could create. */
const SMALLEST_PAGES_LIMIT = routes.createExchange.cost

/** In the order in which they are charged: a client beyond its own limit uses up nothing of what the pages have together. */
function chargesOf({ partner, keyId, origins }: Caller, ip: string, cost: number): readonly Charge[] {
  const limitPerMinute = partner.rateLimitPerMinute
  if (origins === undefined) return [{ key: partner.id, cost, limitPerMinute }]
  const ofPages = Math.max(SMALLEST_PAGES_LIMIT, Math.ceil(limitPerMinute / SHARES))
  const ofClient = Math.min(CLIENT_LIMIT, Math.max(SMALLEST_CLIENT_LIMIT, Math.ceil(ofPages / SHARES)))
  return [
    { key: `page:${keyId}:${callerNetwork(ip)}`, cost, limitPerMinute: ofClient },
    { key: `pages:${keyId}`, cost, limitPerMinute: ofPages },
  ]
}

function throttlePublic({ settings }: ApiContext, route: RouteDefinition): RequestHook {
  const { throttle, publicLimitPerMinute: limitPerMinute } = settings
  return (request, reply, done) => {
    request.operation = route.path
    if (route.isOpenToPages) openToPages(reply)
    if (throttle && route.cost > 0)
      charge(throttle, reply, { key: `ip:${callerNetwork(request.ip)}`, cost: route.cost, limitPerMinute })
    done()
  }
}
