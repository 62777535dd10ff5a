import type { FastifyReply } from 'fastify'
import { AppError } from '../domain/errors.ts'
import type { Throttle, ThrottleVerdict } from '../ports/throttle.ts'

/**
 * `RateLimit` as in draft-ietf-httpapi-ratelimit-headers-10 on every answer. A refusal adds the policy and the header
 * names of earlier drafts, which most clients still read. Throws RATE_LIMIT_EXCEEDED.
 */
function apply(verdict: ThrottleVerdict, reply: FastifyReply): void {
  const { allowed, limit, remaining, resetSeconds } = verdict
  reply.header('ratelimit', `"minute";r=${remaining};t=${resetSeconds}`)
  if (allowed) return
  reply.headers({
    'ratelimit-policy': `"minute";q=${limit};w=60`,
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': resetSeconds,
  })
  throw new AppError('RATE_LIMIT_EXCEEDED', `more than ${limit} weighted requests a minute`, {
    retryAfterSeconds: Math.max(1, resetSeconds),
    extra: { limit: String(limit) },
  })
}

/** Takes the cost of one request from its key's budget. */
export function charge(
  throttle: Throttle,
  reply: FastifyReply,
  budget: { key: string; cost: number; limitPerMinute: number },
): void {
  apply(throttle.take(budget.key, budget.cost, budget.limitPerMinute), reply)
}
