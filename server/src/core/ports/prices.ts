import type { PriceSnapshot } from '../domain/price.ts'

export interface Prices {
  /** Reads the source once; never returns an old snapshot with a new time. Throws RATES_UNAVAILABLE. */
  read(): Promise<PriceSnapshot>
}
