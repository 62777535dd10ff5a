import type { Exchange, ExchangeType, ExchangeView, Leg } from '../../domain/exchange.ts'
import type { PrivatePlan } from '../../domain/private-plan.ts'
import type { Destination } from '../chain.ts'

/** The exchange to be created; `keyIndex` is the derivation index of its deposit address. */
export type NewExchange = Readonly<{
  id: string
  partnerId: string
  type: ExchangeType
  flow: Exchange['flow']
  legs: readonly Leg[]
  fromUnits: bigint
  toUnits: bigint
  deposit: Destination
  keyIndex: number
  recipient: Destination | null
  refund: Destination | null
  partnerFeeBps: number
  rate: { nonce: string; expiresAt: Date } | null
  idempotency: { key: string; requestHash: string } | null
  expiryMs: number
  fixedLockMs: number | null
  plan?: PrivatePlan
}>

export type ExchangeQuery = Readonly<{
  partnerId: string
  status?: string
  exchangeType?: string
  fromCurrency?: string
  fromNetwork?: string
  toCurrency?: string
  toNetwork?: string
}>

/** What came of one row of a batch of creates. What is refused has left nothing behind. */
export type CreateOutcome =
  | { kind: 'created' | 'repeated'; exchange: Exchange }
  | { kind: 'rate_expired' | 'rate_used' | 'idempotency_conflict' | 'insufficient' }
  /** The recipient's address, or the refund's, is one of our own. */
  | { kind: 'address_is_ours' | 'refund_is_ours' }

export interface ExchangeStore {
  /** A batch in one transaction of its own: each row has its own outcome, all are answered after the commit. */
  create(batch: readonly NewExchange[]): Promise<readonly CreateOutcome[]>
  find(partnerId: string, id: string, type?: ExchangeType): Promise<ExchangeView | null>
  /** What was created under an idempotency key of the last 24 h, as it was answered. */
  findRepeated(partnerId: string, key: string): Promise<{ requestHash: string; exchange: Exchange } | null>
  /** Rows of the last 24 h before `before`, newest first, at most `limit`; `total` counts all matches. */
  list(
    query: ExchangeQuery,
    after: { createdAt: Date; id: string } | null,
    limit: number,
    offset: number,
  ): Promise<readonly ExchangeView[]>
  count(query: ExchangeQuery): Promise<number>
  /** Open exchanges of a partner, counted up to `most`. */
  countOpen(partnerId: string, most: number): Promise<number>
  /** Derivation indices that no other exchange has or will have. */
  takeKeyIndexes(count: number): Promise<readonly number[]>
}
