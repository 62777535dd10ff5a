import type { FastifyReply } from 'fastify'
import { AppError } from '../domain/errors.ts'
import type { Throttle, ThrottleVerdict } from '../ports/throttle.ts'

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
  const verdict = throttle.take(key, cost, limitPerMinute)
  state(reply, verdict)
  if (!verdict.allowed) throw refuse(reply, verdict)
}

/** Charges nothing. Throws RATE_LIMIT_EXCEEDED if nothing is left of the budget. */
export function checkSpent(
  throttle: Throttle,
  reply: FastifyReply,
  { key, limitPerMinute }: Readonly<{ key: string; limitPerMinute: number }>,
): void {
  const verdict = throttle.take(key, 0, limitPerMinute)
  if (verdict.remaining > 0) return
  state(reply, verdict)
  throw refuse(reply, verdict)
}

function state(reply: FastifyReply, { limit, remaining, resetSeconds }: ThrottleVerdict): void {
  reply.header('ratelimit', `"minute";r=${remaining};t=${resetSeconds}`)
  reply.header('ratelimit-policy', `"minute";q=${limit};w=60`)
}

function refuse(reply: FastifyReply, { limit, remaining, resetSeconds }: ThrottleVerdict): AppError {
  reply.headers({
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': resetSeconds,
  })
  return new AppError('RATE_LIMIT_EXCEEDED', `more than ${limit} weighted requests a minute`, {
    retryAfterSeconds: Math.max(1, resetSeconds),
    extra: { limit: String(limit) },
  })
}
