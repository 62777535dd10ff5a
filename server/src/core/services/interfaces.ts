import type { Caller, Partner } from '../domain/partner.ts'

/** An Idempotency-Key as sent, with a hash of route and canonical body. Unique per partner for 24 h. */
export type Idempotency = Readonly<{ key: string; requestHash: string }>

/** Stores the first successful response per key; see swap/idempotent.ts. */
export type WithIdempotency = <T extends string | readonly string[]>(
  partner: Partner,
  idempotency: Idempotency | null,
  work: () => Promise<T>,
) => Promise<T>

/** What every HTTP route may use, whichever half it belongs to. Failures are `AppError`s. */
export type CoreServices = Readonly<{
  /** From the in-process cache (at most 5 s old). Throws API_KEY_*, IP_NOT_ALLOWED, RATE_LIMIT_EXCEEDED (wrong keys). */
  authenticate(key: string | undefined, ip: string): Caller | Promise<Caller>
  /** Repeats of a request with the same Idempotency-Key get the first response. For the sandbox's controls. */
  withIdempotency: WithIdempotency
  /** Reasons why quotes or creates would fail now; empty = ready. */
  readiness(): readonly string[]
}>
