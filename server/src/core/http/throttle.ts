import type { FastifyReply } from 'fastify'
import { AppError } from '../domain/errors.ts'
import type { Throttle } from '../ports/throttle.ts'

/**
 * Takes the cost of one request from its key's budget. Sends `RateLimit` and `RateLimit-Policy` as in
 * draft-ietf-httpapi-ratelimit-headers-10 with every answer, so that a client knows its quota before it is refused. A refusal
 * adds the header names of earlier drafts, which most clients still read. Throws RATE_LIMIT_EXCEEDED.
 */
export function charge(
  throttle: Throttle,
  reply: FastifyReply,
  { key, cost, limitPerMinute }: Readonly<{ key: string; cost: number; limitPerMinute: number }>,
): void {
  const { allowed, limit, remaining, resetSeconds } = throttle.take(key, cost, limitPerMinute)
  reply.header('ratelimit', `"minute";r=${remaining};t=${resetSeconds}`)
  reply.header('ratelimit-policy', `"minute";q=${limit};w=60`)
  if (allowed) return
  reply.headers({
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': resetSeconds,
  })
  throw new AppError('RATE_LIMIT_EXCEEDED', `more than ${limit} weighted requests a minute`, {
    retryAfterSeconds: Math.max(1, resetSeconds),
    extra: { limit: String(limit) },
  })
}
