import { type Trade, tradeTo } from './curve.ts'
import type { HopCounts } from './likely-paths.ts'
import { curveAt, type Market } from './market.ts'

/** The tokens of a detour that would improve the route at current dual prices, none of them in the subproblem yet. */
export type Column = Readonly<{
  /** The included token that the detour leaves. */
  from: number
  tokens: readonly number[]
  /** Start value of each token's dual price: the gain is spread evenly over the hops. */
  values: readonly number[]
  /** Estimated gain of the detour, in units of the target. */
  gain: number
}>

/** The prices at which detours are looked for. */
export type Pricing = Readonly<{
  included: readonly number[]
  /** By market token, its dual price; 0 = not included. */
  valueAt: Float64Array
  tollFactor: number
  /** Only paths of at most `hopsMax` pairs from source to target count. */
  hopCounts: HopCounts
  hopsMax: number
}>

/** A pair of a detour, the spot price at which it counts, and the cost of one unit of its input in units of the target. */
export type DetourHop = Readonly<{ pair: number; price: number; cost: number }>

const trade: Trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/** What the pools of a pair earn, in units of the target, if their price is `ratio` times better than required. */
export function earningOf(market: Market, { pair, price, cost }: DetourHop, ratio: number): number {
  const { firstEdge, edgePrice } = market
  const required = price / ratio
  const end = firstEdge[pair + 1] as number
  trade.profit = 0
  for (let edge = firstEdge[pair] as number; edge < end && (edgePrice[edge] as number) > required; edge++)
    tradeTo(curveAt(market, edge), required, Math.sqrt(required), trade)
  return trade.profit * cost
}

/** What these hops earn one after another: for constant products the inverse of the sum of inverse earnings. */
export const pathEarning = (market: Market, hops: readonly DetourHop[], ratio: number): number =>
  1 / hops.reduce((sum, hop) => sum + 1 / earningOf(market, hop, ratio), 0)

/** Start values of the tokens of a detour, by the cost of each. */
export const spreadGain = (costs: readonly number[], ratio: number): readonly number[] =>
  costs.map((cost, index) => cost * ratio ** ((index + 1) / (costs.length + 1)))
