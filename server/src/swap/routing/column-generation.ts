import { type Column, type DetourHop, type Pricing, pathEarning, spreadGain } from './column.ts'
import type { Market } from './market.ts'
import { findParetoColumns } from './pareto-columns.ts'
import { keepBuffers } from './search-buffers.ts'

/** Least estimated gain of a column that is worth a further solution, relative to the bound. */
export const COLUMN_GAIN_MIN = 1e-8
/** A column with a smaller gain than the cost of this much gas is not added: a sixtieth of the cheapest swap. */
export const COLUMN_GAS = 1_000

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
 * another, brings more than it costs. The cheapest paths are looked at first. If one of them brings more than it costs, but its pools are
 * too small for a column, it may hide a deeper path that costs more: then the depth of the paths counts, too.
 */
export function findColumns(market: Market, pricing: Pricing, threshold: number): readonly Column[] {
  const { columns: cheapest, ratioMax } = findCheapestColumns(market, pricing, threshold)
  const columns =
    cheapest.length > 0 || ratioMax <= 1 ? cheapest : findParetoColumns(market, pricing, threshold, ratioMax)
  return [...columns]
    .sort((a, b) => b.gain - a.gain || (a.tokens[0] as number) - (b.tokens[0] as number))
    .slice(0, COLUMNS_MAX)
}

/** `ratioMax`: the most that any path brings, relative to its cost, whatever its depth; 1 if none brings more than it costs. */
type CheapestColumns = Readonly<{ columns: readonly Column[]; ratioMax: number }>

/**
 * A label-correcting pass over the whole market finds the lowest cost of one unit of each token outside of the subproblem, one hop after
 * another, and ends where no cost falls any more.
 */
function findCheapestColumns(market: Market, pricing: Pricing, threshold: number): CheapestColumns {
  const { hopsMax, hopCounts, included, valueAt } = pricing
  const work = buffersFor(market.tokenCount, hopsMax)
  const lastStart = included.reduce((most, token) => Math.max(most, hopCounts.fromSource[token] as number), 0)
  const best = new Map<number, Column>()
  let ratioMax = 1
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
      const exit = bestExit(market, pricing, work, token, hops)
      if (exit === null) continue
      ratioMax = Math.max(ratioMax, exit.ratio)
      const column = detourOver(market, pricing, work, { token, hops, exit, threshold })
      if (column !== null && column.gain > (best.get(token)?.gain ?? 0)) best.set(token, column)
    }
    frontier = reached
  }
  return { columns: [...best.values()], ratioMax }
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

/** The last pair of a detour, and what the detour brings, relative to its cost. */
type Exit = Readonly<{ pair: number; ratio: number }>

/** The pair from `token` to an included token with the best spot price, or null if none brings more than the token costs. */
function bestExit(
  { firstPair, pairTo, price }: Market,
  { included, valueAt, tollFactor, hopCounts, hopsMax }: Pricing,
  { cost }: Buffers,
  token: number,
  hops: number,
): Exit | null {
  let worth = cost[token] as number
  let last = -1
  const end = firstPair[token + 1] as number
  for (let pair = firstPair[token] as number; pair < end; pair++) {
    const next = pairTo[pair] as number
    const value = valueAt[next] as number
    if (value === 0 || next === included[0]) continue
    const unit = value * (price[pair] as number) * tollFactor
    if (!(unit > worth) || hops + 1 + (hopCounts.toTarget[next] as number) > hopsMax) continue
    worth = unit
    last = pair
  }
  return last < 0 ? null : { pair: last, ratio: worth / (cost[token] as number) }
}

/**
 * The cheapest path to `token` and the exit from it. A constant product whose price is r times better than dual prices require earns
 * (√r − 1)² of its depth, and a path of constant products is one itself. Null if it gains no more than `threshold`.
 */
function detourOver(
  market: Market,
  { valueAt, tollFactor }: Pricing,
  { cost, viaPairs }: Buffers,
  { token, hops, exit, threshold }: Readonly<{ token: number; hops: number; exit: Exit; threshold: number }>,
): Column | null {
  const { pairFrom, price, depth } = market
  const { pair: lastPair, ratio } = exit
  let unitCost = cost[token] as number
  const tokens: number[] = []
  const costs: number[] = []
  const hopsOf: DetourHop[] = [{ pair: lastPair, price: price[lastPair] as number, cost: unitCost }]
  let inverseDepth = 1 / (ratio * unitCost * (depth[lastPair] as number))
  let at = token
  for (let hop = hops; valueAt[at] === 0; hop--) {
    // A token that stands twice on the path was reached at less cost the second time: a profitable cycle.
    if (tokens.includes(at)) return null
    tokens.unshift(at)
    costs.unshift(unitCost)
    const pair = (viaPairs[hop] as Int32Array)[at] as number
    unitCost *= (price[pair] as number) * tollFactor
    inverseDepth += 1 / (unitCost * (depth[pair] as number))
    hopsOf.push({ pair, price: price[pair] as number, cost: unitCost })
    at = pairFrom[pair] as number
  }
  let gain = (Math.sqrt(ratio) - 1) ** 2 / inverseDepth
  // Pools with a level price, such as bins, earn more than their whole depth shows.
  if (!(gain > threshold)) gain = pathEarning(market, hopsOf, ratio)
  if (!(gain > threshold)) return null
  return { from: at, tokens, values: spreadGain(costs, ratio), gain }
}
