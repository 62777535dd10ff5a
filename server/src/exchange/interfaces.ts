import type { Asset } from '../core/domain/asset.ts'
import type { Currency } from '../core/domain/currency.ts'
import type { Problem } from '../core/domain/errors.ts'
import type { Partner } from '../core/domain/partner.ts'
import type { Idempotency } from '../core/services/interfaces.ts'
import type { Exchange, ExchangeType, ExchangeView, Flow, Leg, ReportedView } from './domain/exchange.ts'
import type { PrivateType } from './domain/private-plan.ts'
import type { IssuedQuote, PrivateQuote } from './domain/rate-quote.ts'
import type { TrackedExchange } from './domain/tracked-exchange.ts'
import type { Destination } from './ports/chain.ts'
import type { ExchangeQuery } from './ports/store/exchanges.ts'

/** What both currencies must be outside of this service. */
export type PairIdentities = Readonly<
  Partial<Record<'fromContractAddress' | 'fromChainId' | 'toContractAddress' | 'toChainId', string | undefined>>
>

/** Text as the partner sent it. The service resolves aliases and letter case. */
export type RateRequest = PairIdentities &
  Readonly<{
    fromCurrency: string
    fromNetwork: string
    toCurrency: string
    toNetwork: string
    amount: string
    /** `to`: the amount is what the recipient shall get at least. Default: it is what the customer gives. */
    amountOf?: 'from' | 'to'
    flow: Flow
  }>

export type ExchangeOrder = Omit<RateRequest, 'amount' | 'amountOf'> &
  Readonly<{
    fromAmount: string
    address?: string | undefined
    memo?: string | undefined
    refundAddress?: string | undefined
    refundMemo?: string | undefined
    rateId?: string | undefined
    externalId?: string | undefined
  }>

/** A private exchange has neither flow nor rateId. */
export type PrivateRateRequest = Omit<RateRequest, 'flow'> & Readonly<{ privateType: PrivateType }>
export type PrivateExchangeOrder = Omit<ExchangeOrder, 'flow' | 'rateId'> & Readonly<{ privateType: PrivateType }>

export type ExchangeFilter = Omit<ExchangeQuery, 'partnerId'>

export type Feed = Readonly<{ xml: Buffer; gzip: Buffer; brotli: Buffer; etag: string; lastModified: Date }>

/** Estimates for responses. Null if a network is no longer listed. */
export type Expectations = Readonly<{
  /** Confirmations that a deposit of the requested amount needs. */
  confirmationsOf(exchange: Pick<Exchange, 'legs' | 'fromUnits'>): number | null
  /** Average time from the deposit to the payout, if the deposit needs these confirmations. */
  secondsOf(exchange: Pick<Exchange, 'type' | 'legs'>, confirmations: number | null): number | null
  secondsOfLeg(exchange: Pick<Exchange, 'type' | 'legs'>, leg: Leg, confirmations: number): number | null
  /** What a tracking link shows. Of a private exchange it is the same for every intermediary: the time of the slowest one. */
  payerSecondsOf(tracked: Pick<TrackedExchange, 'exchange' | 'current'>): number | null
}>

/** A period and a page of a report, as the partner sent them. */
export type ReportRequest = Readonly<{
  from?: string | undefined
  to?: string | undefined
  page?: string | undefined
}>
export type ReportedPage = Readonly<{ rows: readonly ReportedView[]; nextPage: string | null }>

export type RefundAddressRequest = Readonly<{ id: string; refundAddress: string; refundMemo?: string | undefined }>

/** What the holder of a tracking link can see and do. The token is the only permission. */
export type Tracking = Readonly<{
  /** The token of an exchange, by the exchange's id. */
  tokenOf(id: string): string
  /** null if the token is not one of ours. */
  find(token: string): Promise<TrackedExchange | null>
  /** Whether a refund needs an address and the partner lets the payer name it. */
  takesRefundAddress(tracked: TrackedExchange): Promise<boolean>
  /** The address in its canonical form. Names nothing. */
  checkRefundAddress(token: string, address: string, memo: string | undefined): Promise<Destination>
  /** Names the refund address, once. Throws REFUND_ADDRESS_SET. */
  nameRefundAddress(token: string, address: string, memo: string | undefined): Promise<Destination>
}>

export type PairView = Readonly<{
  from: Asset
  to: Asset
  flows: readonly Flow[]
  /** Of the floating rate; null = no maximum. */
  minUnits: bigint
  maxUnits: bigint | null
}>

/** `problems` is empty if a create accepts the address and the memo. */
export type CheckedAddress = Readonly<{
  destination: Readonly<{ address: string; memo: string | null }> | null
  problems: readonly Problem[]
}>

/** The services that the exchange routes call. Failures are `AppError`s. */
/** Our ticker and network for names in a filter; absent where the filter has none. */
export type ResolvedNames = Readonly<{ ticker?: string; network?: string }>

export type ExchangeServices = Readonly<{
  /**
   * Names of a filter, in any form that quotes and creates accept; a contract needs its network. A name that is not listed is
   * returned in lower case.
   */
  resolveNames(currency: string | undefined, network: string | undefined): ResolvedNames
  listCurrencies(): readonly Currency[]
  /** The directions that can be exchanged now, among those that are included. From memory. */
  listPairs(partner: Partner, includes: (from: Asset, to: Asset) => boolean): readonly PairView[]
  /** From the book in memory, without a database query. */
  quoteRate(partner: Partner, request: RateRequest): IssuedQuote
  createExchange(partner: Partner, order: ExchangeOrder, idempotency: Idempotency | null): Promise<ExchangeView>
  /** Both legs, from the same book in memory. */
  quotePrivate(partner: Partner, request: PrivateRateRequest): PrivateQuote
  createPrivateExchange(
    partner: Partner,
    order: PrivateExchangeOrder,
    idempotency: Idempotency | null,
  ): Promise<ExchangeView>
  /** Names the refund address of an exchange that has none. Throws EXCHANGE_NOT_FOUND and REFUND_ADDRESS_SET. */
  nameRefundAddress(partner: Partner, request: RefundAddressRequest): Promise<Destination>
  /** Cancels an exchange for which nothing was seen; again without effect. Throws EXCHANGE_NOT_FOUND and EXCHANGE_NOT_PENDING. */
  cancelExchange(partner: Partner, id: string): Promise<void>
  /** Sandbox only: ends the time of an exchange for which nothing was seen. Throws EXCHANGE_NOT_FOUND and EXCHANGE_NOT_PENDING. */
  expireExchange(partner: Partner, id: string): Promise<Date>
  /** null if the id is unknown, belongs to another partner, or has another type. One round trip. */
  findExchange(partner: Partner, id: string, type?: ExchangeType): Promise<ExchangeView | null>
  /** Exchanges of the last 24 h, newest first. Without a page: all, streamed by key range. */
  listExchanges(
    partner: Partner,
    filter: ExchangeFilter,
    page: { page: number; limit: number } | null,
  ): Promise<{ total: number; rows: AsyncIterable<ExchangeView> }>
  /** All exchanges of a period, oldest first: a page, or all of them, read as they are consumed. */
  reportExchanges: Readonly<{
    page(partner: Partner, request: ReportRequest, limit: number): Promise<ReportedPage>
    all(partner: Partner, request: ReportRequest): AsyncGenerator<ReportedView>
  }>
  expectations: Expectations
  tracking: Tracking
  /** Checks a recipient as a create does, apart from screening. Throws CURRENCY_NOT_FOUND and PAIR_UNAVAILABLE. */
  checkAddress(
    request: Readonly<{ currency: string; network: string; address: string; memo: string | undefined }>,
  ): Promise<CheckedAddress>
  /** From memory. Throws RATES_UNAVAILABLE. */
  ratesFeed(): Feed
}>
