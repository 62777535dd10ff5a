import { randomBytes } from 'node:crypto'
import underPressure from '@fastify/under-pressure'
import Fastify, { type FastifyInstance } from 'fastify'
import { AppError } from '../domain/errors.ts'
import { BODY_LIMIT_BYTES, sendError, toAppError } from './errors.ts'
import type { ApiSettings, HttpLog } from './settings.ts'
import { createConnectRefusal, createSocketErrors, refuseExpectation } from './socket-errors.ts'

const HEADER_BYTES_MAX = 16 * 1024
const PARAMETER_LENGTH_MAX = 128
/** Interval at which Node checks request timeouts, in ms. */
const LATE_CHECK_MS = 1_000

/** Creates Fastify with every limit set and every framework failure in our error shape. Our log line replaces its own two. */
export function createServer(settings: ApiSettings, log: HttpLog): FastifyInstance {
  const { requestTimeoutMs, headersTimeoutMs, trustedProxies } = settings
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    requestTimeout: requestTimeoutMs,
    trustProxy: trustedProxies === 0 ? false : (_address, hop) => hop < trustedProxies,
    // RFC 9110 §9.1: HEAD exists for every GET.
    exposeHeadRoutes: true,
    // Requests during a close are answered with `Connection: close`.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: createRequestIds(),
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      connectionsCheckingInterval: LATE_CHECK_MS,
      insecureHTTPParser: false,
      // Node's own refusal has no body; `createRequestGuards` refuses instead.
      requireHostHeader: false,
    },
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id)
      sendError(toAppError(error, request), request, reply)
    },
    clientErrorHandler: createSocketErrors(log),
  })
  app.server.on('checkExpectation', refuseExpectation)
  app.server.on('connect', createConnectRefusal(log))
  return app
}

/** Request ids: a random prefix per process and an ascending number. */
function createRequestIds(): () => string {
  const head = randomBytes(8).toString('hex')
  let count = 0
  return () => {
    count += 1
    return `${head}-${count.toString(36)}`
  }
}

/**
 * Liveness, because a busy process must not be killed; metrics, because an operator must see why it is busy; and files in memory,
 * without which a page could not say that the server is busy.
 */
const servedAlways = /^\/(health\/live$|metrics$|widget\.js|(console|docs|playground)\/assets\/)/

/** Answers 503 while the event loop lags. */
export function guardOverload(app: FastifyInstance, { overload }: ApiSettings): void {
  if (overload === null) return
  app.register(underPressure, {
    maxEventLoopDelay: overload.eventLoopDelayMs,
    sampleInterval: overload.sampleMs,
    pressureHandler: ({ url }) => {
      if (!servedAlways.test(url)) throw new AppError('OVERLOADED', 'the server has too much to do')
    },
  })
}
