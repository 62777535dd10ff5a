import type { Market } from './market.ts'

/** One or two tokens not yet in the subproblem that would improve the route at current dual prices. */
export type Column = Readonly<{
  tokens: readonly number[]
  /** Start value of each token's dual price: the geometric mean of its cost and its worth. */
  values: readonly number[]
  /** Estimated gain of the detour, in units of the target. */
  gain: number
}>

/**
 * Per token outside of the subproblem, at current dual prices: the lowest cost of one unit, bought from an included token, and the highest
 * worth of one unit, sold for an included token. Depths are in units of the target.
 */
type Prospects = Readonly<{
  cost: Float64Array
  costDepth: Float64Array
  worth: Float64Array
  worthDepth: Float64Array
}>

const createProspects = (tokenCount: number): Prospects => ({
  cost: new Float64Array(tokenCount),
  costDepth: new Float64Array(tokenCount),
  worth: new Float64Array(tokenCount),
  worthDepth: new Float64Array(tokenCount),
})

/** Shared by all calls, because allocation costs more than a call. Depths are read only where a cost or worth was written. */
let buffers = createProspects(1024)

function prospectsFor(tokenCount: number): Prospects {
  if (tokenCount > buffers.cost.length) buffers = createProspects(2 * tokenCount)
  buffers.cost.fill(0, 0, tokenCount)
  buffers.worth.fill(0, 0, tokenCount)
  return buffers
}

const COLUMNS_MAX = 8

/**
 * Prices columns: a token outside of the subproblem cannot improve the dual bound while one unit costs more than it is worth. Considers
 * detours over one token and over two. The gain accounts for depth: a constant product whose price is r times better than the dual prices
 * require yields a profit of (√r − 1)² of its depth.
 */
export function findColumns(
  market: Market,
  included: readonly number[],
  valueAt: Float64Array,
  threshold: number,
  tollFactor: number,
): readonly Column[] {
  const prospects = prospectsFor(market.tokenCount)
  const candidates = priceCandidates(market, included, valueAt, tollFactor, prospects)
  const { cost, costDepth, worth, worthDepth } = prospects
  const columns: Column[] = []
  for (const token of candidates) {
    const unitCost = cost[token] as number
    const directWorth = worth[token] as number
    if (directWorth > unitCost) {
      const gain =
        Math.min(costDepth[token] as number, worthDepth[token] as number) * (Math.sqrt(directWorth / unitCost) - 1) ** 2
      if (gain > threshold) columns.push({ tokens: [token], values: [Math.sqrt(directWorth * unitCost)], gain })
    }
    const successor = bestSuccessor(market, token, Math.max(directWorth, unitCost), prospects, tollFactor)
    if (successor === null) continue
    const gain = Math.min(costDepth[token] as number, successor.depth) * (Math.sqrt(successor.unit / unitCost) - 1) ** 2
    const value = Math.sqrt(successor.unit * unitCost)
    if (gain > threshold) columns.push({ tokens: [token, successor.token], values: [value, value / successor.price], gain })
  }
  return columns
    .sort((a, b) => b.gain - a.gain || (a.tokens[0] as number) - (b.tokens[0] as number))
    .slice(0, COLUMNS_MAX)
}

/** Fills in the prospects. Returns the tokens outside of the subproblem that a pool connects with an included token. */
function priceCandidates(
  { firstPair, pairTo, price, depth, isIntermediate }: Market,
  included: readonly number[],
  valueAt: Float64Array,
  tollFactor: number,
  { cost, costDepth, worth, worthDepth }: Prospects,
): readonly number[] {
  const candidates: number[] = []
  for (const token of included) {
    const value = valueAt[token] as number
    const end = firstPair[token + 1] as number
    for (let pair = firstPair[token] as number; pair < end; pair++) {
      const neighbour = pairTo[pair] as number
      if (isIntermediate[neighbour] === 0 || (valueAt[neighbour] as number) > 0) continue
      const unit = value / ((price[pair] as number) * tollFactor)
      const best = cost[neighbour] as number
      if (best === 0) candidates.push(neighbour)
      else if (unit >= best) continue
      cost[neighbour] = unit
      costDepth[neighbour] = value * (depth[pair] as number)
    }
  }
  for (const token of candidates) {
    let best = 0
    let bestPair = 0
    const end = firstPair[token + 1] as number
    for (let pair = firstPair[token] as number; pair < end; pair++) {
      const value = valueAt[pairTo[pair] as number] as number
      if (value === 0) continue
      const unit = value * (price[pair] as number) * tollFactor
      if (!(unit > best)) continue
      best = unit
      bestPair = pair
    }
    if (best === 0) continue
    worth[token] = best
    worthDepth[token] = best * (depth[bestPair] as number)
  }
  return candidates
}

function bestSuccessor(
  { firstPair, pairTo, price, depth }: Market,
  token: number,
  atLeast: number,
  { worth, worthDepth }: Prospects,
  tollFactor: number,
) {
  let best = atLeast
  let bestPair = -1
  const end = firstPair[token + 1] as number
  for (let pair = firstPair[token] as number; pair < end; pair++) {
    const directWorth = worth[pairTo[pair] as number] as number
    if (directWorth === 0) continue
    const unit = directWorth * (price[pair] as number) * tollFactor
    if (unit <= best) continue
    best = unit
    bestPair = pair
  }
  if (bestPair < 0) return null
  const successor = pairTo[bestPair] as number
  return {
    token: successor,
    unit: best,
    price: price[bestPair] as number,
    depth: Math.min(worthDepth[successor] as number, best * (depth[bestPair] as number)),
  }
}
