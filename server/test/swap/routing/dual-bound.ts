import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { type BestTrade, definitionOf } from './pool-definitions.ts'

/*
 * An upper bound of what any route nets, from prices alone: it uses nothing of the search. At any positive values ν of the tokens, with
 * ν(target) = 1, no route nets more than
 *
 *     ν(source) · input  +  Σ over all pools and directions of  max(0, max over x of  ν(out) · swap(x) − ν(in) · x  −  cost of the swap)
 *
 * (weak duality). Proof: a route spends the input and keeps only the target, so what it pays is ν(source) · input plus, over its swaps, the
 * value that comes out less the value that goes in; for each swap that is at most the maximum over x. Nothing is assumed of the values. They
 * may come from the program under test: wrong ones make the bound higher, never false.
 *
 * A route has at least as many swaps as the shortest path, whether they earn their cost or not. Left out are swaps that no route has: into
 * the source, out of the target, and of tokens that no path from source to target passes. The maxima follow from the definition of the DEX
 * (`pool-definitions.ts`). Those of stable pools, which have no closed form, are found by golden section over exact swaps, because what a
 * pool pays is concave in its input.
 */
type Request = Readonly<{ source: string; target: string; amountIn: bigint }>

/** Trades that are worth less than this share of the output earn nothing that counts. */
const SMALL = 1e-6
/** At this share no pool's rounding hides a profit. */
const CERTAIN = 1e-3
const FACTOR = 8
const SIZES_MAX = 24
const SECTIONS = 44
const GOLDEN = (Math.sqrt(5) - 1) / 2

/** `amountOut`: roughly what the best route pays. `costOf`: of a swap of the pool, in units of the target. */
export function dualBound(
  pools: readonly Pool[],
  { source, target, amountIn }: Request,
  values: ReadonlyMap<string, number>,
  amountOut: bigint,
  costOf: (pool: Pool) => number = () => 0,
): number {
  const priceOf = (token: string): number => {
    const price = values.get(token) ?? Number.NaN
    if (!(price > 0 && price < Number.POSITIVE_INFINITY)) throw new Error(`token ${token} has the price ${price}`)
    return price
  }
  if (priceOf(target) !== 1) throw new Error('the price of the target is not 1')
  const passed = tokensOnRoutes(pools, source, target)
  const nets: number[] = []
  for (const pool of pools) {
    if (!pool.tokens.every((token) => passed.has(token))) continue
    for (const [from, tokenIn] of pool.tokens.entries())
      for (const [to, tokenOut] of pool.tokens.entries()) {
        if (from === to || tokenIn === target || tokenOut === source) continue
        const [cost, worth] = [priceOf(tokenIn), priceOf(tokenOut)]
        const definition = definitionOf(pool, from, to)
        const { profit } = definition?.(cost, worth) ?? bestExactSwap(pool, from, to, cost, worth, Number(amountOut))
        nets.push(profit - costOf(pool))
      }
  }
  nets.sort((a, b) => b - a)
  const least = shortestPath(pools, source, target)
  return nets.reduce(
    (sum, net, index) => sum + (index < least ? net : Math.max(0, net)),
    priceOf(source) * Number(amountIn),
  )
}

/** The swaps of the shortest path; infinite if there is no path. */
function shortestPath(pools: readonly Pool[], source: string, target: string): number {
  const reached = new Set([source])
  for (let swaps = 0; swaps <= pools.length; swaps++) {
    if (reached.has(target)) return swaps
    const next = pools.filter(({ tokens }) => tokens.some((token) => reached.has(token)))
    for (const { tokens } of next) for (const token of tokens) reached.add(token)
  }
  return Number.POSITIVE_INFINITY
}

/**
 * Tokens that a route from source to target may pass: reached from both ends, and not of a single pool of two. Two pools with the same
 * neighbour are enough: a route may enter by one and leave by the other.
 */
export function tokensOnRoutes(pools: readonly Pool[], source: string, target: string): ReadonlySet<string> {
  const neighbours = new Map<string, string[]>()
  for (const { tokens } of pools)
    for (const token of tokens)
      neighbours.set(token, [...(neighbours.get(token) ?? []), ...tokens.filter((other) => other !== token)])
  const reachedFrom = (start: string, end: string) => {
    const reached = new Set([start])
    for (const token of reached)
      if (token !== end) for (const neighbour of neighbours.get(token) ?? []) reached.add(neighbour)
    return reached
  }
  const fromTarget = reachedFrom(target, source)
  const isPassed = (token: string) =>
    token === source || token === target || (fromTarget.has(token) && (neighbours.get(token)?.length ?? 0) > 1)
  return new Set([...reachedFrom(source, target)].filter(isPassed))
}

/** What one direction of a pool earns at most at these values, by golden section over exact swaps. `output` is that of the route. */
export function bestExactSwap(
  pool: Pool,
  from: number,
  to: number,
  cost: number,
  worth: number,
  output: number,
): BestTrade {
  let [most, best] = [0, 0]
  const profitOf = (input: number): { profit: number; income: number } => {
    const units = BigInt(Math.floor(input))
    const swapped = units === 0n ? null : swapExact(pool, from, to, units)
    if (swapped === null) return { profit: Number.NEGATIVE_INFINITY, income: Number.POSITIVE_INFINITY }
    const income = worth * Number(swapped.amountOut)
    const profit = income - cost * Number(units)
    if (profit > most) [most, best] = [profit, input]
    return { profit, income }
  }
  let input = Math.max(1, (SMALL * output) / cost)
  // Where the input is worth next to nothing, that is more than the pool takes.
  while (input > 1 && profitOf(input).income > CERTAIN * output) input /= FACTOR
  most = 0
  best = 0
  for (let size = 0; size < SIZES_MAX; size++, input *= FACTOR) {
    const { profit, income } = profitOf(input)
    // Of smaller trades, rounding to base units may make a larger one seem worse.
    const isCertain = income > CERTAIN * output
    if (isCertain && (best > 0 ? profit < most : Number.isFinite(income))) break
  }
  if (best === 0) return { profit: 0, amountIn: 0, amountOut: 0 }
  let [low, high] = [best / FACTOR, best * FACTOR]
  for (let section = 0; section < SECTIONS; section++) {
    const [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    if (profitOf(left).profit < profitOf(right).profit) low = left
    else high = right
  }
  return { profit: most, amountIn: best, amountOut: (most + cost * best) / worth }
}
