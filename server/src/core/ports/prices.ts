import type { PriceSnapshot } from '../domain/price.ts'

export type { PriceSnapshot }

export interface Prices {
  /** Reads the source once. Never an old snapshot under a new time. Throws RATES_UNAVAILABLE. */
  read(): Promise<PriceSnapshot>
}
