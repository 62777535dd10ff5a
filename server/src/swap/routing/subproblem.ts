import { type Trade, tradeTo } from './curve.ts'
import type { LikelyPath } from './likely-paths.ts'
import { curveAt, type Market } from './market.ts'

/**
 * The part of a market that is searched closely: some tokens, and every pair of them. Tokens are numbered anew here: 0 is the
 * source, 1 the target.
 */
export type Subproblem = Readonly<{
  market: Market
  tokens: readonly number[]
  /** By token of the market its number here, plus one; 0 = not here. */
  localIndex: Int32Array
  /** Pairs of the market, and their tokens. */
  pairs: Int32Array
  from: Int32Array
  to: Int32Array
  /** Marginal price of each pair's first unit. */
  spotPrice: Float64Array
  /** What a unit of each token is worth in units of the target, whose own stays 1. The search moves these. */
  value: Float64Array
  /** Edges of the market that must not be used. */
  banned: ReadonlySet<number>
  /** Share of what every swap pays that arrives: 1, but for a toll that keeps swaps from going round in circles. */
  tollFactor: number
}>

const NONE: ReadonlySet<number> = new Set()

/** `values` as in `tokens`: where the search begins. `place` as of a problem whose tokens are the first of these, or all zero. */
export function createSubproblem(
  market: Market,
  tokens: readonly number[],
  values: readonly number[],
  localIndex: Int32Array,
): Subproblem {
  const { firstPair, pairTo, price } = market
  for (let index = 0; index < tokens.length; index++) localIndex[tokens[index] as number] = index + 1
  const pairs: number[] = []
  const from: number[] = []
  const to: number[] = []
  for (let index = 0; index < tokens.length; index++) {
    // Nothing leaves the target and nothing comes back to the source: a route ends where it ends.
    if (index === 1) continue
    const token = tokens[index] as number
    const end = firstPair[token + 1] as number
    for (let pair = firstPair[token] as number; pair < end; pair++) {
      const next = (localIndex[pairTo[pair] as number] as number) - 1
      if (next <= 0) continue
      pairs.push(pair)
      from.push(index)
      to.push(next)
    }
  }
  const spotPrice = new Float64Array(pairs.length)
  for (let index = 0; index < pairs.length; index++) spotPrice[index] = price[pairs[index] as number] as number
  return {
    market,
    tokens,
    localIndex,
    pairs: new Int32Array(pairs),
    from: new Int32Array(from),
    to: new Int32Array(to),
    spotPrice,
    value: new Float64Array(values),
    banned: NONE,
    tollFactor: 1,
  }
}

/** The same with fewer pairs. Values are shared. */
export function keepPairs(subproblem: Subproblem, keep: (from: number, to: number) => boolean): Subproblem {
  const { from, to } = subproblem
  const indexes: number[] = []
  for (let index = 0; index < from.length; index++)
    if (keep(from[index] as number, to[index] as number)) indexes.push(index)
  const pick = <T extends Int32Array | Float64Array>(all: T, subset: T): T => {
    for (let localIndex = 0; localIndex < indexes.length; localIndex++) subset[localIndex] = all[indexes[localIndex] as number] as number
    return subset
  }
  return {
    ...subproblem,
    pairs: pick(subproblem.pairs, new Int32Array(indexes.length)),
    from: pick(from, new Int32Array(indexes.length)),
    to: pick(to, new Int32Array(indexes.length)),
    spotPrice: pick(subproblem.spotPrice, new Float64Array(indexes.length)),
  }
}

/** By token, the pairs that lead to it or away from it. */
export function incidentPairs({ from, to, value }: Subproblem): readonly (readonly number[])[] {
  const incident: number[][] = Array.from(value, () => [])
  for (let pair = 0; pair < from.length; pair++) {
    incident[from[pair] as number]?.push(pair)
    incident[to[pair] as number]?.push(pair)
  }
  return incident
}

/** The tokens of these paths, each worth what a further unit of it would bring; the best path comes last and counts. */
export function seedSubproblem(market: Market, source: number, target: number, paths: readonly LikelyPath[]): Subproblem {
  const values = new Map<number, number>([
    [source, 0],
    [target, 1],
  ])
  for (const { tokens, marginalPrices } of paths) {
    let value = 1
    for (let hop = marginalPrices.length - 1; hop >= 0; hop--) {
      value *= marginalPrices[hop] as number
      values.set(tokens[hop] as number, value)
    }
  }
  return createSubproblem(market, [...values.keys()], [...values.values()], new Int32Array(market.tokenCount))
}

/** What all pools of one pair do together at the present values. */
export function tradePair(subproblem: Subproblem, index: number, trade: Trade): void {
  const { from, to, value, tollFactor } = subproblem
  const price = (value[from[index] as number] as number) / ((value[to[index] as number] as number) * tollFactor)
  tradeAt(subproblem, index, price, trade)
}

/** What they do as long as a further unit pays more than `price`. Edges stand best price first: the first that is idle ends it. */
export function tradeAt({ market, pairs, spotPrice, banned }: Subproblem, index: number, price: number, trade: Trade): void {
  trade.in = 0
  trade.out = 0
  trade.profit = 0
  trade.sensitivity = 0
  if ((spotPrice[index] as number) <= price) return
  const { edgePrice, firstEdge } = market
  const pair = pairs[index] as number
  const root = Math.sqrt(price)
  const end = firstEdge[pair + 1] as number
  for (let edge = firstEdge[pair] as number; edge < end; edge++) {
    if ((edgePrice[edge] as number) <= price) return
    if (banned.size === 0 || !banned.has(edge)) tradeTo(curveAt(market, edge), price, root, trade)
  }
}

const trade: Trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/** One swap of a solved problem; `worth` of what goes in, in units of the target. */
export type ActiveSwap = Readonly<{
  edge: number
  from: number
  to: number
  worth: number
  /** What the pool earns: without it the route pays at least so much less. */
  earning: number
  /** What goes in, in units of its own. */
  amountIn: number
}>

/** Below this share of all that flows a swap is dust: dropped, its share goes to the others. */
const DUST = 1e-10

/** Every swap that happens at the present values on a way from source to target. */
export function activeSwaps(subproblem: Subproblem, bound: number): readonly ActiveSwap[] {
  const { market, pairs, from, to, spotPrice, value, banned, tollFactor } = subproblem
  const active: ActiveSwap[] = []
  for (let index = 0; index < pairs.length; index++) {
    const cost = value[from[index] as number] as number
    const worthOut = (value[to[index] as number] as number) * tollFactor
    const price = cost / worthOut
    if ((spotPrice[index] as number) <= price) continue
    const root = Math.sqrt(price)
    const pair = pairs[index] as number
    const end = market.firstEdge[pair + 1] as number
    for (let edge = market.firstEdge[pair] as number; edge < end; edge++) {
      if ((market.edgePrice[edge] as number) <= price) break
      if (banned.has(edge)) continue
      trade.in = trade.out = trade.profit = trade.sensitivity = 0
      tradeTo(curveAt(market, edge), price, root, trade)
      const worth = trade.in * cost
      if (worth > DUST * bound)
        active.push({
          edge,
          from: from[index] as number,
          to: to[index] as number,
          worth,
          earning: trade.profit * cost,
          amountIn: trade.in,
        })
    }
  }
  return dropDisconnected(active)
}

/** Without swaps that nothing reaches, and those that end nowhere because what would go on is dust: it would be lost. */
function dropDisconnected(active: readonly ActiveSwap[]): readonly ActiveSwap[] {
  const fromSource = reachableTokens(active, 0, 'from', 'to')
  const toTarget = reachableTokens(active, 1, 'to', 'from')
  return active.filter(({ from, to }) => fromSource.has(from) && toTarget.has(to))
}

function reachableTokens(
  active: readonly ActiveSwap[],
  start: number,
  tail: 'from' | 'to',
  head: 'from' | 'to',
): ReadonlySet<number> {
  const tokens = new Set([start])
  for (let size = 0; size < tokens.size; ) {
    size = tokens.size
    for (const one of active) if (tokens.has(one[tail])) tokens.add(one[head])
  }
  return tokens
}

/** Whether what the pools do at the present values goes round in a circle: their prices differ by more than their fees. */
export function hasCycle(subproblem: Subproblem): boolean {
  const { from, to, value } = subproblem
  // Nothing enters the source and nothing leaves the target: a circle takes two tokens more.
  if (value.length < 4) return false
  const entries = new Int32Array(value.length)
  const next: number[][] = Array.from(value, () => [])
  for (let pair = 0; pair < from.length; pair++) {
    tradePair(subproblem, pair, trade)
    if (trade.in === 0) continue
    const token = to[pair] as number
    entries[token] = (entries[token] as number) + 1
    next[from[pair] as number]?.push(token)
  }
  // Token by token that nothing enters any more: what is then left stands in circles, or behind one.
  const removed = [...entries.keys()].filter((token) => entries[token] === 0)
  for (const token of removed) {
    for (const successor of next[token] as number[]) {
      entries[successor] = (entries[successor] as number) - 1
      if (entries[successor] === 0) removed.push(successor)
    }
  }
  return removed.length < value.length
}
