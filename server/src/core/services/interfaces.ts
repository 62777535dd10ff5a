import type { Caller, Partner } from '../domain/partner.ts'
import type { Keep } from '../ports/store/idempotency.ts'

/** An Idempotency-Key as sent, with a hash of route and canonical body. Unique per partner for 24 h. */
export type Idempotency = Readonly<{ key: string; requestHash: string }>

/**
 * Runs `work` once per key and returns its response to repeats; see with-idempotency.ts. `keep` makes what a store saves in the
 * transaction of the act.
 */
export type WithIdempotency = <T extends string | readonly string[]>(
  partner: Partner,
  idempotency: Idempotency | null,
  work: (keep: Keep<T>) => Promise<T>,
) => Promise<T>

/** What every HTTP route may use, whichever half it belongs to. Failures are `AppError`s. */
export type CoreServices = Readonly<{
  /** From the in-process cache (at most 5 s old). Throws API_KEY_*, IP_NOT_ALLOWED, RATE_LIMIT_EXCEEDED (wrong keys). */
  authenticate(key: string | undefined, ip: string): Caller | Promise<Caller>
  withIdempotency: WithIdempotency
  /** Reasons why quotes or creates would fail now; empty = ready. */
  readiness(): readonly string[]
}>
