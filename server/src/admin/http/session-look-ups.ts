import type { FastifyReply, FastifyRequest } from 'fastify'
import { charge, checkSpent } from '../../core/http/throttle.ts'
import type { Throttle } from '../../core/ports/throttle.ts'
import { callerNetwork } from '../../lib/ip-address.ts'
import { createTtlCache } from '../../lib/ttl-cache.ts'
import type { SessionStore } from '../ports/sessions.ts'

type FindSession = SessionStore['find']

export type SessionLookUps = Readonly<{
  /** Of a new session: not limited. */
  find: FindSession
  /** Of the token of a request. Throws RATE_LIMIT_EXCEEDED. */
  findWithin(request: FastifyRequest, reply: FastifyReply): FindSession
}>

type Options = Readonly<{ sessions: SessionStore; throttle: Throttle | null; limitPerMinute: number; idleMs: number }>

const KNOWN_MAX = 1_000

/**
 * Tokens that are no session are charged to their network address: they would query the database without a limit. A session that
 * this process has seen is always looked up, so that strangers in its network cannot lock its operator out.
 */
export function createSessionLookUps({ sessions, throttle, limitPerMinute, idleMs }: Options): SessionLookUps {
  const known = createTtlCache<string, true>({ max: KNOWN_MAX, ttlMs: idleMs, now: Date.now })
  const find: FindSession = async (hash, idle) => {
    const session = await sessions.find(hash, idle)
    const name = hash.toString('base64')
    if (session === null) known.delete(name)
    else known.set(name, true)
    return session
  }
  if (throttle === null) return { find, findWithin: () => find }
  return {
    find,
    findWithin: (request, reply) => async (hash, idle) => {
      const budget = { key: `session:${callerNetwork(request.ip)}`, limitPerMinute }
      if (known.get(hash.toString('base64')) === undefined) checkSpent(throttle, reply, budget)
      const session = await find(hash, idle)
      if (session === null) charge(throttle, reply, { ...budget, cost: 1 })
      return session
    },
  }
}
