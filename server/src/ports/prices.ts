/** Reference prices of one moment: US dollars per whole coin, scaled by 10^12. */
export type PriceSnapshot = Readonly<{
  /** Milliseconds since 1970 of the oldest price in it. */
  at: number
  /** By `priceKey` of the catalogue. A key that is absent has no price now. */
  usd: ReadonlyMap<string, { bid: bigint; ask: bigint }>
}>

export interface Prices {
  /** Reads the source once. Never an old snapshot under a new time. Throws RATES_UNAVAILABLE. */
  read(): Promise<PriceSnapshot>
}
