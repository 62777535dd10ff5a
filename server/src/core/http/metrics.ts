import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../../lib/ip-address.ts'
import { AppError } from '../domain/errors.ts'
import type { ApiContext } from './mount.ts'

const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/

/** Headers that proxies add. A request with one of them comes from a proxy, so a loopback address does not identify the client. */
const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/** Serves Prometheus text to loopback clients and to the operator's token. */
export function mountMetrics({ app, settings, metrics }: ApiContext): void {
  app.get('/metrics', async (request, reply) => {
    request.operation = '/metrics'
    if (!isLocal(request) && !hasToken(request.headers.authorization, settings.operatorToken)) {
      throw new AppError('IP_NOT_ALLOWED', "metrics are for loopback and for the operator's token")
    }
    reply.headers({ 'content-type': metrics.contentType, 'cache-control': 'no-store' })
    return metrics.render()
  })
}

function isLocal({ ip, headers }: FastifyRequest): boolean {
  return isLoopback(ip) && forwarding.every((name) => headers[name] === undefined)
}

/** Compares hashes, so that the duration reveals neither length nor content. */
function hasToken(header: string | undefined, token: string | null): boolean {
  const sent = BEARER.exec(header ?? '')?.[1]
  if (sent === undefined || token === null) return false
  return timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', token, 'buffer'))
}
