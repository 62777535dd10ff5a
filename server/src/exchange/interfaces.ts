import type { Currency } from '../core/domain/currency.ts'
import type { Partner } from '../core/domain/partner.ts'
import type { Idempotency } from '../core/services/interfaces.ts'
import type { ExchangeStatus, ExchangeType, ExchangeView, Flow } from './domain/exchange.ts'
import type { PrivateType } from './domain/private-plan.ts'
import type { IssuedQuote, RateQuote } from './domain/rate-quote.ts'

/** Text as the partner sent it. The service resolves aliases and letter case. */
export type RateRequest = Readonly<{
  fromCurrency: string
  fromNetwork: string
  toCurrency: string
  toNetwork: string
  amount: string
  flow: Flow
}>

export type ExchangeOrder = Readonly<{
  fromCurrency: string
  fromNetwork: string
  toCurrency: string
  toNetwork: string
  fromAmount: string
  flow: Flow
  address?: string
  memo?: string
  refundAddress?: string
  refundMemo?: string
  rateId?: string
}>

/** A private exchange has neither flow nor rateId. */
export type PrivateRateRequest = Omit<RateRequest, 'flow'> & Readonly<{ privateType: PrivateType }>
export type PrivateExchangeOrder = Omit<ExchangeOrder, 'flow' | 'rateId'> & Readonly<{ privateType: PrivateType }>

/** Conditions are exact and combined with AND. Tickers are canonical and lower case; an unknown one matches nothing. */
export type ExchangeFilter = Readonly<{
  status?: ExchangeStatus
  exchangeType?: ExchangeType
  fromCurrency?: string
  fromNetwork?: string
  toCurrency?: string
  toNetwork?: string
}>

export type Feed = Readonly<{ xml: Buffer; gzip: Buffer; brotli: Buffer; etag: string; lastModified: Date }>

/** The services that the exchange routes call. Failures are `AppError`s. */
export type ExchangeServices = Readonly<{
  listCurrencies(): readonly Currency[]
  /** From the book in memory, without a database query. */
  quoteRate(partner: Partner, request: RateRequest): IssuedQuote
  createExchange(partner: Partner, order: ExchangeOrder, idempotency: Idempotency | null): Promise<ExchangeView>
  /** Both legs, from the same book in memory. */
  quotePrivate(partner: Partner, request: PrivateRateRequest): { quote: RateQuote; expectedSeconds: number }
  createPrivateExchange(
    partner: Partner,
    order: PrivateExchangeOrder,
    idempotency: Idempotency | null,
  ): Promise<ExchangeView>
  /** null if the id is unknown, belongs to another partner, or has another type. One round trip. */
  findExchange(partner: Partner, id: string, type?: ExchangeType): Promise<ExchangeView | null>
  /** Exchanges of the last 24 h, newest first. Without a page: all, streamed by key range. */
  listExchanges(
    partner: Partner,
    filter: ExchangeFilter,
    page: { page: number; limit: number } | null,
  ): Promise<{ total: number; rows: AsyncIterable<ExchangeView> }>
  /** From memory. Throws RATES_UNAVAILABLE. */
  ratesFeed(): Feed
}>
