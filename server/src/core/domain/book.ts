import type { AssetId } from './asset.ts'
import type { AssetClass } from './currency.ts'
import type { NetworkId } from './network.ts'
import type { Priced, PriceSnapshot } from './price.ts'

/** Prices older than this are not used (I-30). */
export const PRICES_MAX_AGE_MS = 30_000
/** Fee rates change slowly. A network without a new one for this long counts as unreachable. */
export const FEES_MAX_AGE_MS = 120_000
/** Reserves come from our own database. Without a new reading for this long, quotes stop. */
export const RESERVES_MAX_AGE_MS = 60_000

/** Current costs of one network. */
export type NetworkFees = Readonly<{
  /** Milliseconds since 1970 at which the fee rate was read. */
  at: number
  /** The native currency, in which fees are paid. */
  native: Priced & Readonly<{ assetId: AssetId }>
  /** Units of the native currency, by the asset that is paid out. */
  payoutFeeUnits: ReadonlyMap<AssetId, bigint>
  /** Expected cost of a deposit before it can pay out, in the native currency, by the asset of the deposit. Absent: none. */
  depositFeeUnits?: ReadonlyMap<AssetId, bigint>
}>

export type Reserves = Readonly<{
  /** Milliseconds since 1970 at which they were read; 0 = never. */
  at: number
  /** Units that can be paid out now. null = unlimited; absent = none. */
  available: ReadonlyMap<AssetId, bigint | null>
  /**
   * The largest payout that quotes promise, where limits of payouts hold larger ones. An accepted deposit may have more: it must
   * not wait for a reserve because the price has moved. Absent: what is available.
   */
  promised?: ReadonlyMap<AssetId, bigint>
  /** What fixed rates may promise. Absent: without a limit. */
  fixed?: ReadonlyMap<AssetId, FixedStock>
}>

/** Units of the reserve without unpaid fixed-rate promises, and these promises by partner. */
export type FixedStock = Readonly<{ freeUnits: bigint; heldUnits: bigint; heldByPartner: ReadonlyMap<string, bigint> }>

export type Pauses = Readonly<{
  networks: ReadonlySet<NetworkId>
  assets: ReadonlySet<AssetId>
  /** Networks on which only payouts are paused. Absent: none. */
  payouts?: ReadonlySet<NetworkId>
  /** Ids of partners whose payouts are paused. Absent: none. */
  partners?: ReadonlySet<string>
  /** Scopes of DEXes, pools and tokens that routes must not use. Absent: none. */
  pools?: ReadonlySet<string>
}>

/** Our spread in basis points. The higher one of the two asset classes applies. */
export type SpreadPolicy = Readonly<{
  bps: Readonly<Record<AssetClass, number>>
  /** Added for fixed rates, because we carry the price risk. */
  fixedRateExtraBps: number
}>

/** Limits of what a fixed rate may promise. */
export type FixedRatePolicy = Readonly<{
  /** Older prices give no fixed rate. */
  priceAgeMs: number
  /** Unpaid promises take at most this share of an asset's free reserve. */
  reservePercent: number
  /** One partner's unpaid promises take at most this share of those of all. */
  partnerPercent: number
}>

/**
 * Everything that a quote depends on, at one moment. Immutable, in memory, replaced as a whole, so that a reader always
 * computes from consistent figures. Prices, fees and reserves carry the time at which their source was read.
 */
export type Book = Readonly<{
  prices: PriceSnapshot
  fees: ReadonlyMap<NetworkId, NetworkFees>
  reserves: Reserves
  pauses: Pauses
  spreads: SpreadPolicy
  fixedRates: FixedRatePolicy
  /** A coin that is pegged to the US dollar is quoted while its price is at most this far from one dollar. */
  stableBandPercent: number
}>

/** Spreads if the configuration sets none. */
export const defaultSpreads: SpreadPolicy = {
  bps: { stable: 15, major: 40, minor: 70 },
  fixedRateExtraBps: 50,
}

/** Fixed rates if the configuration sets nothing. */
export const defaultFixedRates: FixedRatePolicy = { priceAgeMs: 5_000, reservePercent: 30, partnerPercent: 33 }

export const defaultStableBandPercent = 2

/** The book before the first read: every quote fails with RATES_UNAVAILABLE. */
export function emptyBook(
  spreads: SpreadPolicy,
  fixedRates = defaultFixedRates,
  stableBandPercent = defaultStableBandPercent,
): Book {
  return {
    prices: { usd: new Map(), times: new Map() },
    fees: new Map(),
    reserves: { at: 0, available: new Map() },
    pauses: { networks: new Set(), assets: new Set() },
    spreads,
    fixedRates,
    stableBandPercent,
  }
}
