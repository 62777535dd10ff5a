import type { AssetId } from './asset.ts'
import type { AssetClass } from './currency.ts'
import type { NetworkId } from './network.ts'
import type { Priced, PriceSnapshot } from './price.ts'

/** Prices older than this are no prices (I-30). */
export const PRICES_MAX_AGE_MS = 30_000
/** Fee rates move slowly; without any for this long the network is not reachable. */
export const FEES_MAX_AGE_MS = 120_000
/** Reserves and pauses come from our own database: without them for this long nothing can be promised. */
export const RESERVES_MAX_AGE_MS = 60_000

/** What one payout costs on one network now. */
export type NetworkFees = Readonly<{
  /** Milliseconds since 1970 at which the fee rate was read. */
  at: number
  /** The network's own coin, in which fees are counted. */
  native: Priced & Readonly<{ assetId: AssetId }>
  /** By the asset that is paid out, in units of the native coin. */
  payoutFeeUnits: ReadonlyMap<AssetId, bigint>
}>

export type Reserves = Readonly<{
  /** Milliseconds since 1970 at which they were read; 0 = never. */
  at: number
  /** Units that can be paid out now. null = nothing bounds it; absent = nothing is there. */
  available: ReadonlyMap<AssetId, bigint | null>
}>

export type Pauses = Readonly<{ networks: ReadonlySet<NetworkId>; assets: ReadonlySet<AssetId> }>

/** Basis points that the house takes; the worse class of the two assets decides. */
export type SpreadPolicy = Readonly<{
  bps: Readonly<Record<AssetClass, number>>
  /** Added at a fixed rate, where the house bears the move of the price. */
  fixedRateExtraBps: number
}>

/**
 * Everything that a quote depends on, as of one moment. Immutable, in memory, replaced as a whole: whoever holds one
 * computes from figures that belong together. Every part carries the time at which its source was read.
 */
export type Book = Readonly<{
  prices: PriceSnapshot
  fees: ReadonlyMap<NetworkId, NetworkFees>
  reserves: Reserves
  pauses: Pauses
  spreads: SpreadPolicy
}>

/** Basis points of spread where the configuration says nothing. */
export const defaultSpreads: SpreadPolicy = {
  bps: { stable: 15, major: 40, minor: 70 },
  fixedRateExtraBps: 50,
}

/** Before anything was read: every quote fails with RATES_UNAVAILABLE. */
export function emptyBook(spreads: SpreadPolicy): Book {
  return {
    prices: { at: 0, usd: new Map() },
    fees: new Map(),
    reserves: { at: 0, available: new Map() },
    pauses: { networks: new Set(), assets: new Set() },
    spreads,
  }
}
