import { hash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../domain/errors.ts'
import { isLoopback } from '../lib/ip-address.ts'
import type { ApiContext } from './mount.ts'

const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/

/** Prometheus text, for loopback or for who has the operator's token. */
export function mountMetrics({ app, settings, metrics }: ApiContext): void {
  app.get('/metrics', async (request, reply) => {
    request.operation = '/metrics'
    if (!isLoopback(request.ip) && !hasToken(request.headers.authorization, settings.operatorToken)) {
      throw new AppError('IP_NOT_ALLOWED', "metrics are for loopback and for the operator's token")
    }
    reply.headers({ 'content-type': metrics.contentType, 'cache-control': 'no-store' })
    return metrics.render()
  })
}

/** Compared by hash, so that neither length nor content shows in the time it takes. */
function hasToken(header: string | undefined, token: string | null): boolean {
  const sent = BEARER.exec(header ?? '')?.[1]
  if (sent === undefined || token === null) return false
  return timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', token, 'buffer'))
}
