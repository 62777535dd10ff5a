import type { FastifyReply } from 'fastify'
import { AppError } from '../domain/errors.ts'
import type { Throttle, ThrottleVerdict } from '../ports/throttle.ts'

const policies = new Map<number, string>()

/** Limits are few; the text of each is made once. */
function policyOf(limit: number): string {
  let policy = policies.get(limit)
  if (policy === undefined) {
    policy = `"minute";q=${limit};w=60`
    policies.set(limit, policy)
  }
  return policy
}

/** `RateLimit` and `RateLimit-Policy` as in draft-ietf-httpapi-ratelimit-headers-10. Throws RATE_LIMIT_EXCEEDED. */
function apply(verdict: ThrottleVerdict, reply: FastifyReply): void {
  const { allowed, limit, remaining, resetSeconds } = verdict
  reply.header('ratelimit', `"minute";r=${remaining};t=${resetSeconds}`)
  if (allowed) return
  reply.header('ratelimit-policy', policyOf(limit))
  // Earlier drafts' names, which most clients still look for when they are told to wait.
  reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': resetSeconds })
  throw new AppError('RATE_LIMIT_EXCEEDED', `more than ${limit} weighted requests a minute`, {
    retryAfterSeconds: Math.max(1, resetSeconds),
    extra: { limit: String(limit) },
  })
}

/** Takes the cost of one request from its key's budget. Answers at once where the throttle does. */
export function charge(
  throttle: Throttle,
  reply: FastifyReply,
  budget: { key: string; cost: number; limitPerMinute: number },
): void | Promise<void> {
  const verdict = throttle.take(budget.key, budget.cost, budget.limitPerMinute)
  if (verdict instanceof Promise) return verdict.then((late) => apply(late, reply))
  apply(verdict, reply)
}
