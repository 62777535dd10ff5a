import type {
  Estimate,
  Exchange,
  ExchangeStatus,
  ExchangeType,
  ExchangeView,
  Leg,
  QuotedFees,
  ReportedView,
} from '../../domain/exchange.ts'
import type { PrivatePlan } from '../../domain/private-plan.ts'
import type { Destination } from '../chain.ts'

/** An exchange to create. `keyIndex` is the derivation index of its deposit address. */
export type NewExchange = Readonly<{
  id: string
  partnerId: string
  type: ExchangeType
  flow: Exchange['flow']
  legs: readonly Leg[]
  fromUnits: bigint
  toUnits: bigint
  /** The quote's maximum; null = none. */
  maxUnits: bigint | null
  estimate: Estimate | null
  deposit: Destination
  keyIndex: number
  recipient: Destination | null
  refund: Destination | null
  externalId: string | null
  partnerFeeBps: number
  quotedFees: QuotedFees | null
  rate: { nonce: string; expiresAt: Date } | null
  idempotency: { key: string; requestHash: string } | null
  expiryMs: number
  fixedLockMs: number | null
  fixedInclusionMs: number | null
  /** Share of the free reserve that unpaid fixed-rate promises may take. */
  fixedReservePercent: number
  /** Of that, the share of one partner. */
  fixedPartnerPercent: number
  plan?: PrivatePlan
}>

/** Conditions are exact and combined with AND. Tickers are canonical and lower case; an unknown one matches nothing. */
export type ExchangeQuery = Readonly<{
  partnerId: string
  status?: ExchangeStatus
  exchangeType?: ExchangeType
  externalId?: string
  fromCurrency?: string
  fromNetwork?: string
  toCurrency?: string
  toNetwork?: string
}>

/** Created at or after `from` and before `to`; null = no limit. */
export type ReportPeriod = Readonly<{ partnerId: string; from: Date | null; to: Date | null }>
/** A report continues after this exchange. */
export type ReportPlace = Readonly<{ createdAt: Date; id: string }>

/** Outcome of one row of a batch. A refused row leaves nothing in the database. */
export type CreateOutcome =
  | { kind: 'created' | 'repeated'; exchange: Exchange }
  | { kind: 'rate_expired' | 'rate_used' | 'idempotency_conflict' | 'insufficient' }
  /** The recipient or the refund address is one of ours. */
  | { kind: 'address_is_ours' | 'refund_is_ours' }

export interface ExchangeStore {
  /** Creates a batch in its own transaction. Each row has its own outcome, returned after the commit. */
  create(batch: readonly NewExchange[]): Promise<readonly CreateOutcome[]>
  /** `partnerId` null: of any partner. */
  find(partnerId: string | null, id: string, type?: ExchangeType): Promise<ExchangeView | null>
  /**
   * Sets the refund address of an exchange that has none and has refunded nothing, and wakes its step. `set` also if it has
   * this address already, so that a repeat succeeds.
   */
  nameRefund(id: string, refund: Destination): Promise<'set' | 'other' | 'refunded'>
  /**
   * Cancels an exchange that is pending and for which nothing was seen, and releases the reserve of its fixed rate. A repeat is
   * `cancelled`, too.
   */
  cancel(id: string): Promise<'cancelled' | 'seen'>
  /**
   * Ends the time of an exchange that is pending and for which nothing was seen, and of its fixed rate, and wakes its step.
   * null for another exchange.
   */
  expire(id: string): Promise<Date | null>
  /** The exchange that an idempotency key of the last 24 h created, as it was answered (I-21). */
  findRepeated(partnerId: string, key: string): Promise<{ requestHash: string; exchange: Exchange } | null>
  /** Exchanges of the last 24 h, newest first, from `after` on. */
  list(
    query: ExchangeQuery,
    after: { createdAt: Date; id: string } | null,
    limit: number,
    offset: number,
  ): Promise<readonly ExchangeView[]>
  count(query: ExchangeQuery): Promise<number>
  /** Exchanges of any age, oldest first. */
  report(period: ReportPeriod, after: ReportPlace | null, limit: number): Promise<readonly ReportedView[]>
  /** Number of open exchanges of a partner; counting stops at `max`. */
  countOpen(partnerId: string, max: number): Promise<number>
  /** Derivation indexes that no other exchange has or will get. */
  takeKeyIndexes(count: number): Promise<readonly number[]>
  /** The key index of the newest exchange that was created before this time; 0 = no exchange was. */
  newestKeyIndex(before: Date): Promise<number>
}
