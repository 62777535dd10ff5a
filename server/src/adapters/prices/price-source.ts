import type { Price } from '../../core/domain/price.ts'

/** What a price is stated in: US dollars, or a stablecoin, by its price key. */
export type QuoteCurrency = 'usd' | 'usdt'

/** The best bid and ask of one asset at one source, per whole unit, scaled by 10^12. */
export type SourcePrice = Readonly<{
  priceKey: string
  quoteCurrency: QuoteCurrency
  /** Milliseconds since 1970: the source's own time of this price, or else a moment before it was requested. */
  at: number
  price: Price
}>

export type PriceSource = Readonly<{
  /** For logs and metrics. */
  id: string
  /** Prices older than this are not counted. Absent: the limit of all sources. */
  maxAgeMs?: number
  /** The keys that it is known to state; those that it does not are reported. */
  priceKeys?: readonly string[]
  /** Never returns an old price with a new time. Throws RATES_UNAVAILABLE; its cause says why, without secrets. */
  read(): Promise<readonly SourcePrice[]>
}>
