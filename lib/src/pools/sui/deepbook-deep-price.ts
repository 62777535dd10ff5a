/* The price of DEEP in a DeepBook v3 pool: the mean of points from reference pools. */

import { INPUT_FEE, type OrderDeepPrice } from './deepbook-fee.ts'
import { divide, multiply } from './deepbook-math.ts'
import { abortUnless } from './move-abort.ts'

const MODULE = 'deep_price'
const POINT_RECENTLY_ADDED = 1
const NO_POINTS = 2

const INTERVAL_MIN_MS = 60_000n
const AGE_MAX_MS = 86_400_000n
const POINTS_MAX = 100
/** One half and one, scaled by 10^9. */
const HALF = 500_000_000n
const ONE = 1_000_000_000n

export type DeepPricePoint = Readonly<{
  /** DEEP per unit of the asset, scaled by 10^9. */
  rate: bigint
  timestampMs: bigint
}>

/** Points by asset, ascending by time. */
export type DeepPricePoints = Readonly<{ base: readonly DeepPricePoint[]; quote: readonly DeepPricePoint[] }>

/** Adds a point; points of the same asset that are older than a day and all but the newest 100 drop out. */
export function addDeepPricePoint(
  points: DeepPricePoints,
  assetIsBase: boolean,
  point: DeepPricePoint,
): DeepPricePoints {
  const side = assetIsBase ? points.base : points.quote
  const lastMs = side.at(-1)?.timestampMs ?? 0n
  abortUnless(lastMs + INTERVAL_MIN_MS < point.timestampMs, MODULE, POINT_RECENTLY_ADDED)
  const isFresh = ({ timestampMs }: DeepPricePoint) => timestampMs + AGE_MAX_MS >= point.timestampMs
  const next = [...side.filter(isFresh), point].slice(-POINTS_MAX)
  return assetIsBase ? { ...points, base: next } : { ...points, quote: next }
}

/** The mean, rounded down. Points of the quote asset precede those of the base asset. */
export function meanDeepPrice({ base, quote }: DeepPricePoints): OrderDeepPrice {
  const assetIsBase = quote.length === 0
  const side = assetIsBase ? base : quote
  abortUnless(side.length > 0, MODULE, NO_POINTS)
  const sum = side.reduce((total, { rate }) => total + rate, 0n)
  return { assetIsBase, deepPerAsset: sum / BigInt(side.length) }
}

/** The price of an order whose fee is in DEEP; whitelisted pools have none. */
export function orderDeepPrice(isWhitelisted: boolean, price: OrderDeepPrice | null): OrderDeepPrice {
  if (isWhitelisted) return INPUT_FEE
  abortUnless(price !== null, MODULE, NO_POINTS)
  return price
}

/** DEEP per asset from the best prices of a reference pool, whose base or quote is DEEP. */
export function referenceRate(bid: bigint, ask: bigint, isDeepBase: boolean): bigint {
  const middle = midPrice(bid, ask)
  return isDeepBase ? divide(ONE, middle) : middle
}

export const midPrice = (bid: bigint, ask: bigint): bigint => multiply(bid + ask, HALF)
