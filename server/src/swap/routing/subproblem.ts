import { type Trade, tradeTo } from './curve.ts'
import type { LikelyPath } from './likely-paths.ts'
import { curveAt, type Market } from './market.ts'

/**
 * A restriction of the market to some tokens and all pairs between them. Tokens have indexes of their own here: 0 is the source, 1 the
 * target.
 */
export type Subproblem = Readonly<{
  market: Market
  tokens: readonly number[]
  /** By market token, its index here plus one; 0 = not included. */
  localIndex: Int32Array
  /** Market numbers of the pairs, and the indexes of their tokens here. */
  pairs: Int32Array
  from: Int32Array
  to: Int32Array
  /** Spot price of each pair: the marginal price of its first unit. */
  spotPrice: Float64Array
  /** Dual price of each token, in units of the target per base unit; 1 for the target. The solver changes these. */
  value: Float64Array
  /** Market edges that must not be used. */
  banned: ReadonlySet<number>
  /** 1 − the toll on the output of every swap. Below 1 only while a toll is needed to make cycles unprofitable. */
  tollFactor: number
}>

const NONE: ReadonlySet<number> = new Set()

/**
 * `values` are the start prices of `tokens`. `localIndex` is all zero, or belongs to a subproblem whose tokens are the first of `tokens`; it is
 * updated in place.
 */
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
    // No pair leaves the target or returns to the source.
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

/** A copy with only some of the pairs. The price array is shared. */
export function keepPairs(subproblem: Subproblem, keep: (from: number, to: number) => boolean): Subproblem {
  const { from, to } = subproblem
  const indexes: number[] = []
  for (let index = 0; index < from.length; index++)
    if (keep(from[index] as number, to[index] as number)) indexes.push(index)
  const pick = <T extends Int32Array | Float64Array>(all: T, subset: T): T => {
    for (let index = 0; index < indexes.length; index++) subset[index] = all[indexes[index] as number] as number
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

/** By token, the pairs into and out of it. */
export function incidentPairs({ from, to, value }: Subproblem): readonly (readonly number[])[] {
  const incident: number[][] = Array.from(value, () => [])
  for (let pair = 0; pair < from.length; pair++) {
    incident[from[pair] as number]?.push(pair)
    incident[to[pair] as number]?.push(pair)
  }
  return incident
}

/**
 * The subproblem of these paths' tokens, priced at the product of marginal prices to the target. On conflict the last, longest path
 * counts.
 */
export function seedSubproblem(
  market: Market,
  source: number,
  target: number,
  paths: readonly LikelyPath[],
): Subproblem {
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

/** Total trade of all pools of one pair at current dual prices. */
export function tradePair(subproblem: Subproblem, index: number, trade: Trade): void {
  const { from, to, value, tollFactor } = subproblem
  const price = (value[from[index] as number] as number) / ((value[to[index] as number] as number) * tollFactor)
  tradeAt(subproblem, index, price, trade)
}

/**
 * Total trade of a pair up to the marginal price `price`. Edges are sorted by spot price, so the first one without a trade ends the loop.
 */
export function tradeAt(
  { market, pairs, spotPrice, banned }: Subproblem,
  index: number,
  price: number,
  trade: Trade,
): void {
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

/** One swap of a solution. `worth` is the value of its input, in units of the target. */
export type ActiveSwap = Readonly<{
  edge: number
  from: number
  to: number
  worth: number
  /** Profit of the pool, in units of the target. By the dual, the bound without this edge is lower by at least this amount. */
  earning: number
  /** Input in base units. */
  amountIn: number
}>

/** Swaps with a smaller share of the total flow are dropped; their share goes to the other swaps of the token. */
const DUST = 1e-10

/** All swaps of the solution at current prices that lie on a path from source to target. */
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

/** Drops swaps without a connection from the source or to the target; after dropping small swaps, their output would be lost. */
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

/** Whether the flow at current prices contains a cycle, because pool prices differ by more than their fees. */
export function hasCycle(subproblem: Subproblem): boolean {
  const { from, to, value } = subproblem
  // No pair enters the source or leaves the target, so a cycle needs two further tokens.
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
  // Remove tokens without remaining inflow, one after another. The rest are in a cycle or downstream of one.
  const removed = [...entries.keys()].filter((token) => entries[token] === 0)
  for (const token of removed) {
    for (const successor of next[token] as number[]) {
      entries[successor] = (entries[successor] as number) - 1
      if (entries[successor] === 0) removed.push(successor)
    }
  }
  return removed.length < value.length
}
