import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { maskText } from '../../lib/log.ts'
import type { HttpLog, HttpMetrics } from './settings.ts'

const PATH_LENGTH_MAX = 200

/** Writes one log line and one metric observation per answered request. */
export function watchRequests(app: FastifyInstance, log: HttpLog, metrics: HttpMetrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply
    const elapsedMs = reply.elapsedTime
    metrics.observeRequest(request.operation ?? 'unmatched', request.method, statusCode, elapsedMs / 1000)
    writeLine(log, request, reply, elapsedMs)
    done()
  })
}

/** Without query and headers, which may contain a key. */
function writeLine(log: HttpLog, request: FastifyRequest, { statusCode }: FastifyReply, elapsedMs: number): void {
  const { failure, caller, operation, method } = request
  const path = operation ?? pathOf(request)
  const fields = {
    requestId: request.id,
    elapsedMs: Math.round(elapsedMs * 100) / 100,
    method,
    path,
    status: statusCode,
    ip: request.ip,
    partnerId: caller?.partner.id,
    keyId: caller?.keyId,
    code: failure?.code,
  }
  if (failure?.kind === 'bug') log.error({ ...fields, err: failure.cause ?? failure }, 'request failed')
  else if (failure?.kind === 'unavailable') log.warn({ ...fields, err: failure.cause }, 'request not served')
  else log.info(fields, 'request answered')
}

/** An unknown path is not logged: it may contain a key that a partner sent by mistake. */
function pathOf(request: FastifyRequest): string {
  const [path = ''] = request.url.split('?', 1)
  return maskText(path).slice(0, PATH_LENGTH_MAX)
}
