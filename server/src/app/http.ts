import { type RouteDefinition, routes, sandboxRoutes } from '@swapyard/schema'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../core/domain/errors.ts'
import type { Caller } from '../core/domain/partner.ts'
import { openFailure } from '../core/http/cors.ts'
import { sendError, toAppError } from '../core/http/errors.ts'
import { mountHealth } from '../core/http/health.ts'
import { mountIcons } from '../core/http/icons.ts'
import { mountMetrics } from '../core/http/metrics.ts'
import type { ApiContext } from '../core/http/mount.ts'
import { mountPartner } from '../core/http/partner.ts'
import { mountReference } from '../core/http/reference.ts'
import { acceptJsonOnly, allowedMethods, createRequestGuards } from '../core/http/request-guards.ts'
import { watchRequests } from '../core/http/request-log.ts'
import { mountSandbox } from '../core/http/sandbox.ts'
import { createServer, guardOverload } from '../core/http/server.ts'
import type { ApiSettings, HttpLog, HttpMetrics } from '../core/http/settings.ts'
import { createStaticFiles } from '../core/http/static-files.ts'
import { compileValidator, type KnownKeys, unknownKeyProblems, validationError } from '../core/http/validation.ts'
import type { CoreServices } from '../core/services/interfaces.ts'
import type { PartnerAccount } from '../core/services/partner-account.ts'
import { mountEvents } from '../events/api/events.ts'
import { mountWebhooks } from '../events/api/webhooks.ts'
import type { EventServices } from '../events/interfaces.ts'
import { mountAddresses } from '../exchange/api/addresses.ts'
import { mountAvailableCurrencies } from '../exchange/api/available-currencies.ts'
import { mountCancel } from '../exchange/api/cancel.ts'
import { mountExchange, mountPrivateExchange } from '../exchange/api/exchange.ts'
import { mountList } from '../exchange/api/list.ts'
import { mountPairs } from '../exchange/api/pairs.ts'
import { createPresentDeps } from '../exchange/api/present-deps.ts'
import { mountPrivateRate, mountRate } from '../exchange/api/rate.ts'
import { mountRates } from '../exchange/api/rates-feed.ts'
import { mountRefundAddress } from '../exchange/api/refund-address.ts'
import { mountReport } from '../exchange/api/report.ts'
import { mountSandboxExpiry } from '../exchange/api/sandbox-expiry.ts'
import { mountStatus } from '../exchange/api/status.ts'
import { mountTrackedStatus } from '../exchange/api/track.ts'
import type { ExchangeServices } from '../exchange/interfaces.ts'
import { mountFeeAddresses } from '../swap/api/fee-addresses.ts'
import { mountSwapList } from '../swap/api/list.ts'
import { mountSwapQuote } from '../swap/api/quote.ts'
import { mountSwapStatus } from '../swap/api/status.ts'
import { mountTokens } from '../swap/api/tokens.ts'
import { mountTransactions } from '../swap/api/transactions.ts'
import type { SwapServices } from '../swap/interfaces.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; null on public routes and before the key was checked. */
    caller: Caller | null
    /** Pattern of the route, for metrics and the log; null where none matched. */
    operation: string | null
    /** What was answered with, where that is an error. */
    failure: AppError | null
    /** Members that the route's schemas declare; null where no route matched. */
    known: KnownKeys | null
  }
  interface FastifyInstance {
    /** Readiness turns false and connections are asked to close; what is under way is finished. Then `close()`. */
    drain(): void
    isDraining(): boolean
  }
}

export type HttpServer = FastifyInstance

/** Everything that the routes call. */
export type Services = CoreServices &
  ExchangeServices &
  Readonly<{ swaps: SwapServices; partnerAccount: PartnerAccount; events: EventServices }>

export type HttpServerOptions = Readonly<{
  services: Services
  log: HttpLog
  metrics: HttpMetrics
  settings: ApiSettings
}>

/** The operations that this server has, for its documentation and for tests. */
export function servedRoutes(settings: Pick<ApiSettings, 'sandboxControlUrl'>): Record<string, RouteDefinition> {
  return { ...routes, ...(settings.sandboxControlUrl === null ? {} : sandboxRoutes) }
}

const selectPaths = (isSelected: (route: RouteDefinition) => boolean | undefined): ReadonlySet<string> =>
  new Set(Object.values<RouteDefinition>(routes).flatMap((route) => (isSelected(route) ? [route.path] : [])))

/** Paths that pages may call, with a publishable key or without a key. */
const pagePaths = selectPaths(({ isPublishable, isOpenToPages }) => isPublishable || isOpenToPages)

export function createHttpServer({ services, log, metrics, settings }: HttpServerOptions): HttpServer {
  const app = createServer(settings, log)
  const state = { draining: false }
  const documented = servedRoutes(settings)
  app.decorateRequest('caller', null)
  app.decorateRequest('operation', null)
  app.decorateRequest('failure', null)
  app.decorateRequest('known', null)
  app.decorate('drain', () => {
    state.draining = true
    services.events.streams.close()
  })
  app.decorate('isDraining', () => state.draining)
  // An open stream would keep the server from closing.
  app.addHook('preClose', async () => services.events.streams.close())
  app.setValidatorCompiler(compileValidator)
  app.addHook('onRequest', createRequestGuards(state, allowedMethods(app), pagePaths))
  guardOverload(app, settings)
  watchRequests(app, log, metrics)
  acceptJsonOnly(app)
  app.setErrorHandler(answerError)

  const context: ApiContext<Services> = { app, services, settings, metrics, log }
  mountHealth(context, () => state.draining)
  mountMetrics(context)
  if (settings.operationsOnly) return app
  const presentDeps = createPresentDeps(services, settings.publicUrl)
  const sendFile = createStaticFiles()
  mountAvailableCurrencies(context)
  mountPairs(context)
  mountRate(context)
  mountPrivateRate(context)
  mountExchange(context, presentDeps)
  mountPrivateExchange(context, presentDeps)
  mountRefundAddress(context)
  mountCancel(context)
  mountStatus(context, presentDeps)
  mountTrackedStatus(context, presentDeps)
  mountAddresses(context)
  mountList(context, presentDeps)
  mountReport(context, presentDeps)
  mountPartner(context)
  mountTokens(context)
  mountSwapQuote(context)
  mountTransactions(context)
  mountSwapList(context)
  mountSwapStatus(context)
  mountFeeAddresses(context)
  mountWebhooks(context)
  mountEvents(context)
  mountRates(context)
  mountIcons(context, sendFile)
  mountReference(context, documented, sendFile)
  mountSandbox(context)
  mountSandboxExpiry(context)
  return app
}

function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toAppError(thrown, request)
  openFailure(error, request, reply, pagePaths)
  sendError(withUnknownKeys(error, request), request, reply)
}

/** All problems at once: a strict partner hears of unknown members together with the wrong ones. */
function withUnknownKeys(error: AppError, request: FastifyRequest): AppError {
  const { caller, known } = request
  if (error.code !== 'VALIDATION_ERROR' || !caller?.partner.strict || known === null) return error
  const named = new Set(error.problems.map((problem) => problem.field))
  const unknown = unknownKeyProblems(request, known).filter((problem) => !named.has(problem.field))
  return unknown.length === 0 ? error : validationError([...error.problems, ...unknown])
}
