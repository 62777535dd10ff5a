import type { FastifyReply } from 'fastify'
import { AppError } from '../domain/errors.ts'
import type { Throttle, ThrottleVerdict } from '../ports/throttle.ts'

export type Charge = Readonly<{ key: string; cost: number; limitPerMinute: number }>

/**
 * Takes the cost of one request from its budgets, in their order up to the first that has not enough. Sends `RateLimit` and `RateLimit-Policy`
 * as in draft-ietf-httpapi-ratelimit-headers-10 with every answer, of the budget with the least left, so that a client knows its
 * quota before it is refused. A refusal adds the header names of earlier drafts, which most clients still read. Throws
 * RATE_LIMIT_EXCEEDED.
 */
export function charge(throttle: Throttle, reply: FastifyReply, ...charges: readonly Charge[]): void {
  let tightest: ThrottleVerdict | null = null
  for (const { key, cost, limitPerMinute } of charges) {
    const verdict = throttle.take(key, cost, limitPerMinute)
    if (!verdict.allowed) throw refuse(reply, verdict)
    if (tightest === null || verdict.remaining < tightest.remaining) tightest = verdict
  }
  if (tightest !== null) state(reply, tightest)
}

/** Charges nothing. Throws RATE_LIMIT_EXCEEDED if nothing is left of the budget. */
export function checkSpent(
  throttle: Throttle,
  reply: FastifyReply,
  { key, limitPerMinute }: Readonly<{ key: string; limitPerMinute: number }>,
): void {
  const verdict = throttle.take(key, 0, limitPerMinute)
  if (verdict.remaining === 0) throw refuse(reply, verdict)
}

function state(reply: FastifyReply, { limit, remaining, resetSeconds }: ThrottleVerdict): void {
  reply.header('ratelimit', `"minute";r=${remaining};t=${resetSeconds}`)
  reply.header('ratelimit-policy', `"minute";q=${limit};w=60`)
}

function refuse(reply: FastifyReply, verdict: ThrottleVerdict): AppError {
  const { limit, remaining, resetSeconds } = verdict
  state(reply, verdict)
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
