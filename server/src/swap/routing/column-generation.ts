import { type Trade, tradeTo } from './curve.ts'
import type { HopCounts } from './likely-paths.ts'
import { curveAt, type Market } from './market.ts'
import { keepBuffers } from './search-buffers.ts'

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

/** Least estimated gain of a column that is worth a further solution, relative to the bound. */
export const COLUMN_GAIN_MIN = 1e-8

type Buffers = Readonly<{
  /** Per token outside of the subproblem, the lowest cost of one unit in units of the target; 0 = not reached. */
  cost: Float64Array
  /** The number of hops from the source at which the cost was lowered last. */
  hopsAt: Int32Array
  /** By number of hops from the source, the pair that lowered the cost of each token. Read only where it was written. */
  viaPairs: readonly Int32Array[]
}>

const readBuffers = keepBuffers(
  (tokenCount, hopsMax): Buffers => ({
    cost: new Float64Array(tokenCount),
    hopsAt: new Int32Array(tokenCount),
    viaPairs: Array.from({ length: hopsMax }, () => new Int32Array(tokenCount)),
  }),
)

function buffersFor(tokenCount: number, hopsMax: number): Buffers {
  const buffers = readBuffers(tokenCount, hopsMax)
  buffers.cost.fill(0, 0, tokenCount)
  buffers.hopsAt.fill(0, 0, tokenCount)
  return buffers
}

const COLUMNS_MAX = 8

/**
 * Prices columns: a token outside of the subproblem cannot improve the dual bound while no path over it, from one included token to
 * another, brings more than it costs. A label-correcting pass over the whole market finds the lowest cost of one unit of each such token,
 * one hop after another, and ends where no cost falls any more.
 */
export function findColumns(market: Market, pricing: Pricing, threshold: number): readonly Column[] {
  const { hopsMax, hopCounts, included, valueAt } = pricing
  const work = buffersFor(market.tokenCount, hopsMax)
  const lastStart = included.reduce((most, token) => Math.max(most, hopCounts.fromSource[token] as number), 0)
  const best = new Map<number, Column>()
  let frontier: readonly number[] = []
  for (let hops = 1; hops < hopsMax && (frontier.length > 0 || hops <= lastStart + 1); hops++) {
    const costs = frontier.map((token) => work.cost[token] as number)
    const reached: number[] = []
    // No pair leaves the target.
    for (const [index, token] of included.entries())
      if (index !== 1 && hopCounts.fromSource[token] === hops - 1)
        relax(market, pricing, work, { token, cost: valueAt[token] as number, hops, reached })
    for (const [index, token] of frontier.entries())
      relax(market, pricing, work, { token, cost: costs[index] as number, hops, reached })
    for (const token of reached) {
      const column = detourOver(market, pricing, work, token, hops, threshold)
      if (column !== null && column.gain > (best.get(token)?.gain ?? 0)) best.set(token, column)
    }
    frontier = reached
  }
  return [...best.values()]
    .sort((a, b) => b.gain - a.gain || (a.tokens[0] as number) - (b.tokens[0] as number))
    .slice(0, COLUMNS_MAX)
}

/** Lowers the costs of the neighbours of a token, and adds those to `reached`. `hops`: from the source to the neighbour. */
function relax(
  { firstPair, pairTo, price, isIntermediate }: Market,
  { valueAt, tollFactor, hopCounts, hopsMax }: Pricing,
  { cost: lowest, hopsAt, viaPairs }: Buffers,
  { token, cost, hops, reached }: Readonly<{ token: number; cost: number; hops: number; reached: number[] }>,
): void {
  const viaPair = viaPairs[hops] as Int32Array
  const end = firstPair[token + 1] as number
  for (let pair = firstPair[token] as number; pair < end; pair++) {
    const next = pairTo[pair] as number
    if (isIntermediate[next] === 0 || (valueAt[next] as number) > 0) continue
    if (hops + (hopCounts.toTarget[next] as number) > hopsMax) continue
    const unit = cost / ((price[pair] as number) * tollFactor)
    const before = lowest[next] as number
    if (before !== 0 && unit >= before) continue
    if (hopsAt[next] !== hops) reached.push(next)
    lowest[next] = unit
    hopsAt[next] = hops
    viaPair[next] = pair
  }
}

/**
 * The detour that ends with the best pair from `token` to an included token. A constant product whose price is r times better than dual
 * prices require earns (√r − 1)² of its depth, and a path of constant products is one itself. Null if it gains no more than `threshold`.
 */
function detourOver(
  market: Market,
  { included, valueAt, tollFactor, hopCounts, hopsMax }: Pricing,
  { cost, viaPairs }: Buffers,
  token: number,
  hops: number,
  threshold: number,
): Column | null {
  const { firstPair, pairFrom, pairTo, price, depth } = market
  let worth = cost[token] as number
  let lastPair = -1
  const end = firstPair[token + 1] as number
  for (let pair = firstPair[token] as number; pair < end; pair++) {
    const next = pairTo[pair] as number
    const value = valueAt[next] as number
    if (value === 0 || next === included[0]) continue
    const unit = value * (price[pair] as number) * tollFactor
    if (!(unit > worth) || hops + 1 + (hopCounts.toTarget[next] as number) > hopsMax) continue
    worth = unit
    lastPair = pair
  }
  if (lastPair < 0) return null
  const ratio = worth / (cost[token] as number)
  const tokens: number[] = []
  const values: number[] = []
  const hopsOf = [{ pair: lastPair, cost: cost[token] as number }]
  let inverseDepth = 1 / (worth * (depth[lastPair] as number))
  let unitCost = cost[token] as number
  let at = token
  for (let hop = hops; valueAt[at] === 0; hop--) {
    // A token that stands twice on the path was reached at less cost the second time: a profitable cycle.
    if (tokens.includes(at)) return null
    tokens.unshift(at)
    values.unshift(unitCost)
    const pair = (viaPairs[hop] as Int32Array)[at] as number
    unitCost *= (price[pair] as number) * tollFactor
    inverseDepth += 1 / (unitCost * (depth[pair] as number))
    hopsOf.push({ pair, cost: unitCost })
    at = pairFrom[pair] as number
  }
  let gain = (Math.sqrt(ratio) - 1) ** 2 / inverseDepth
  // Pools with a level price, such as bins, earn more than their whole depth shows.
  if (!(gain > threshold)) gain = 1 / hopsOf.reduce((sum, hop) => sum + 1 / earningOf(market, hop, ratio), 0)
  if (!(gain > threshold)) return null
  const spread = values.map((value, index) => value * ratio ** ((index + 1) / (tokens.length + 1)))
  return { from: at, tokens, values: spread, gain }
}

const trade: Trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/** What the pools of a pair earn, in units of the target, if their price is `ratio` times better than required. */
function earningOf(market: Market, { pair, cost }: Readonly<{ pair: number; cost: number }>, ratio: number): number {
  const { firstEdge, edgePrice } = market
  const price = (market.price[pair] as number) / ratio
  const end = firstEdge[pair + 1] as number
  trade.profit = 0
  for (let edge = firstEdge[pair] as number; edge < end && (edgePrice[edge] as number) > price; edge++)
    tradeTo(curveAt(market, edge), price, Math.sqrt(price), trade)
  return trade.profit * cost
}
