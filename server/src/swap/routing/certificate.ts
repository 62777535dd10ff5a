import { type Trade, tradeTo } from './curve.ts'
import type { Execution } from './execute.ts'
import { hopCountsOf } from './likely-paths.ts'
import { curveAt, type Market } from './market.ts'
import { swapExact } from './pool-kinds.ts'
import type { PoolMarket } from './pool-market.ts'

/*
 * An upper bound of what any route pays, by weak duality. At any values of the tokens, in units of the target per base unit, no route nets
 * more than
 *
 *     ν(source) · input  +  Σ over all swaps of max(0, profit of the swap at these values − its gas)
 *
 * because a route that uses a swap pays for its gas. No limit of hops or swaps is taken into account. For pools that are no constant
 * products it is as precise as their curves. The values come from the search and from the route, and do not have to be right.
 */
export type Certificate = Readonly<{
  /** Upper bound of the output net of gas, in base units of the target. */
  bound: number
  /** The values that prove it, by token. Tokens of one pool of two have none: no route passes through them. */
  values: ReadonlyMap<string, number>
}>

type Certified = Readonly<{
  execution: Execution
  /** Dual prices by market token; 0 = none. */
  values: Float64Array
}>

/** Covers the rounding of float64 in a sum over thousands of swaps. */
const ROUNDING = 1e-12
const NEARLY_ZERO = 1e-9
/** Prices settle within a round per hop, unless cycles are profitable. */
const ROUNDS_MIN = 64

/** The lowest bound at three sets of values: those of the search, those after the route, and spot prices. */
export function certify(
  pools: PoolMarket,
  { source, target, amountIn }: Readonly<{ source: string; target: string; amountIn: bigint }>,
  gasPrice: number,
  certified: Certified | null,
): Certificate {
  const { market, tokens } = pools
  const from = tokens.get(source)
  const to = tokens.get(target)
  let best: Readonly<{ bound: number; values: Float64Array }> = { bound: 0, values: new Float64Array(tokens.size) }
  if (from !== undefined && to !== undefined && from !== to && amountIn > 0n) {
    const ends = { from, to }
    const atTarget = new Float64Array(tokens.size)
    atTarget[to] = 1
    const known = certified === null ? [] : [certified.values, valuesAfter(pools, certified.execution, to)]
    const boundOf = (values: Float64Array) => boundAt(market, ends, Number(amountIn), gasPrice, values)
    const sets = [
      unitPrices(market, ends, atTarget).worth,
      ...known.map((values) => completeValues(market, ends, values, boundOf)),
    ]
    const bounds = sets.map((values) => ({ values, bound: boundOf(values) }))
    best = bounds.reduce((least, one) => (one.bound < least.bound ? one : least))
  }
  const { bound, values } = best
  const valued = [...tokens].filter(([, token]) => (values[token] as number) > 0)
  return {
    bound: Math.max(0, bound + Math.abs(bound) * ROUNDING),
    values: new Map(valued.map(([address, token]) => [address, values[token] as number])),
  }
}

type Ends = Readonly<{ from: number; to: number }>

/** The marginal worth of each token of a route, by exact swaps. */
function valuesAfter({ tokens }: PoolMarket, { swaps }: Execution, target: number): Float64Array {
  const values = new Float64Array(tokens.size)
  values[target] = 1
  for (const { pool, tokenIn, tokenOut, amountIn, amountOut } of [...swaps].reverse()) {
    const further = amountIn + amountIn / 2n ** 20n + 1n
    const more = swapExact(pool, tokenIn, tokenOut, further)?.amountOut ?? amountOut
    const price = Number(more - amountOut) / Number(further - amountIn)
    const worth = price * (values[tokens.get(pool.tokens[tokenOut] ?? '') ?? -1] ?? 0)
    const token = tokens.get(pool.tokens[tokenIn] ?? '') ?? -1
    values[token] = Math.max(values[token] ?? 0, worth)
  }
  return values
}

/**
 * Values of the other tokens, too: the geometric mean of what a unit costs, bought for tokens with values, and what it is worth, sold for
 * them. At these, no swap between two other tokens is profitable. A token that is worth more than it costs, because a small part of a
 * pool has a better price, gets the one of the three values at which the bound is lowest.
 */
function completeValues(
  market: Market,
  ends: Ends,
  known: Float64Array,
  boundOf: (values: Float64Array) => number,
): Float64Array {
  const values = known.slice()
  // Where the pools take no more of the source, its value may be zero.
  if (values[ends.from] === 0)
    values[ends.from] = NEARLY_ZERO * (unitPrices(market, ends, values).worth[ends.from] as number)
  const { cost, worth } = unitPrices(market, ends, values)
  const completed = values.map((value, token) => {
    const mean = Math.sqrt((cost[token] as number) * (worth[token] as number))
    return value || (isExact(mean) ? mean : (cost[token] as number))
  })
  let least = boundOf(completed)
  for (const [token, value] of values.entries()) {
    if (value > 0 || !((worth[token] as number) > (cost[token] as number))) continue
    for (const other of [cost[token] as number, worth[token] as number]) {
      const before = completed[token] as number
      completed[token] = other
      const bound = boundOf(completed)
      if (bound < least) least = bound
      else completed[token] = before
    }
  }
  return completed
}

/** By token, the lowest cost and the highest worth of one unit at spot prices; 0 where there is no path. */
function unitPrices(
  { tokenCount, firstPair, firstEdge, pairFrom, pairTo, price }: Market,
  { from, to }: Ends,
  values: Float64Array,
): Readonly<{ cost: Float64Array; worth: Float64Array }> {
  const [cost, worth] = [values.slice(), values.slice()]
  const firstEdgeOf = (token: number) => firstEdge[firstPair[token] as number] as number
  // A route may enter a token by one pool and leave it to the same neighbour by another.
  const isPassed = (token: number) => firstEdgeOf(token + 1) - firstEdgeOf(token) > 1
  const isOpen = (token: number) => values[token] === 0 && (isPassed(token) || token === from)
  let hasChanged = true
  for (let round = 0; round < Math.max(ROUNDS_MIN, tokenCount) && hasChanged; round++) {
    hasChanged = false
    for (let pair = 0; pair < pairFrom.length; pair++) {
      const [a, b] = [pairFrom[pair] as number, pairTo[pair] as number]
      if (a === to || b === from) continue
      const [unit, income] = [
        (cost[a] as number) / (price[pair] as number),
        (worth[b] as number) * (price[pair] as number),
      ]
      if (isOpen(b) && unit > 0 && (cost[b] === 0 || unit < (cost[b] as number))) {
        cost[b] = unit
        hasChanged = true
      }
      if (isOpen(a) && income > (worth[a] as number)) {
        worth[a] = income
        hasChanged = true
      }
    }
  }
  return { cost, worth }
}

/** Profitable cycles raise and lower values without end. Products with such values overflow or lose their digits, and prove nothing. */
const isExact = (value: number): boolean => value === 0 || (value > 1e-100 && value < 1e100)

/** Every route has at least as many swaps as the shortest path, so the gas of so many swaps is counted, whether they earn it or not. */
function boundAt(market: Market, ends: Ends, amount: number, gasPrice: number, values: Float64Array): number {
  if (!values.every(isExact)) return Number.POSITIVE_INFINITY
  const { pairFrom, pairTo, firstEdge, edgePrice } = market
  const { from, to } = ends
  const swapsMin = hopCountsOf(market, from, to, HOPS_COUNTED).toTarget[from] as number
  const trade: Trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }
  const nets: number[] = []
  let bound = (values[from] as number) * amount
  for (let pair = 0; pair < pairFrom.length; pair++) {
    const cost = values[pairFrom[pair] as number] as number
    const worth = values[pairTo[pair] as number] as number
    if (pairFrom[pair] === to || pairTo[pair] === from || cost === 0 || worth === 0) continue
    const price = cost / worth
    for (let edge = firstEdge[pair] as number; edge < (firstEdge[pair + 1] as number); edge++) {
      if (gasPrice === 0 && (edgePrice[edge] as number) <= price) break
      const curve = curveAt(market, edge)
      trade.profit = 0
      if ((edgePrice[edge] as number) > price) tradeTo(curve, price, Math.sqrt(price), trade)
      const net = trade.profit * cost - gasPrice * curve.gas
      if (net > 0) bound += net
      nets.push(net)
    }
  }
  if (gasPrice === 0) return bound
  const unearned = nets.sort((a, b) => b - a).slice(0, swapsMin)
  return unearned.reduce((sum, net) => sum + Math.min(0, net), bound)
}

/** The most hops that are counted from source to target. */
const HOPS_COUNTED = 100
