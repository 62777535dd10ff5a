import type { Exchange } from '../../domain/exchange.ts'

/** What came of one row of a batch of creates. What is refused has left nothing behind. */
export type CreateOutcome =
  | { kind: 'created' | 'repeated'; exchange: Exchange }
  | { kind: 'rate_expired' | 'rate_used' | 'idempotency_conflict' | 'insufficient' }
  /** The recipient's address, or the refund's, is one of our own. */
  | { kind: 'address_is_ours' | 'refund_is_ours' }
