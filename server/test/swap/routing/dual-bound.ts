import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'

/*
 * An upper bound of the output of all routes without gas, from prices alone and exact swaps: it uses nothing of the search. At any values
 * ν of the tokens, with ν(target) = 1, no route pays more than
 *
 *     ν(source) · input  +  Σ over all pools and directions of  max over x of  ν(out) · swap(x) − ν(in) · x
 *
 * (weak duality). Left out are swaps that no route has: into the source, out of the target, and of tokens that no path from source to target
 * passes. The maxima are found by golden section, because what a pool pays is concave in its input.
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

export function dualBound(
  pools: readonly Pool[],
  { source, target, amountIn }: Request,
  values: ReadonlyMap<string, number>,
  amountOut: bigint,
): number {
  const passed = tokensOnRoutes(pools, source, target)
  let bound = (values.get(source) ?? Number.NaN) * Number(amountIn)
  for (const pool of pools) {
    if (!pool.tokens.every((token) => passed.has(token))) continue
    for (const [from, tokenIn] of pool.tokens.entries())
      for (const [to, tokenOut] of pool.tokens.entries()) {
        if (from === to || tokenIn === target || tokenOut === source) continue
        const [cost, worth] = [values.get(tokenIn) ?? Number.NaN, values.get(tokenOut) ?? Number.NaN]
        bound += mostProfit(pool, from, to, cost, worth, Number(amountOut))
      }
  }
  return bound
}

/** Tokens that a path from source to target may pass: reached from both ends, and with two neighbours or more. */
function tokensOnRoutes(pools: readonly Pool[], source: string, target: string): ReadonlySet<string> {
  const neighbours = new Map<string, Set<string>>()
  for (const { tokens } of pools)
    for (const token of tokens)
      neighbours.set(token, new Set([...(neighbours.get(token) ?? []), ...tokens.filter((other) => other !== token)]))
  const reachedFrom = (start: string, end: string) => {
    const reached = new Set([start])
    for (const token of reached)
      if (token !== end) for (const neighbour of neighbours.get(token) ?? []) reached.add(neighbour)
    return reached
  }
  const fromTarget = reachedFrom(target, source)
  const isPassed = (token: string) =>
    token === source || token === target || (fromTarget.has(token) && (neighbours.get(token)?.size ?? 0) > 1)
  return new Set([...reachedFrom(source, target)].filter(isPassed))
}

/** The most that one direction of a pool earns at these values. `output` is that of the route. */
function mostProfit(pool: Pool, from: number, to: number, cost: number, worth: number, output: number): number {
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
    if (best > 0 ? profit < most : income > CERTAIN * output && Number.isFinite(income)) break
  }
  if (best === 0) return 0
  let [low, high] = [best / FACTOR, best * FACTOR]
  for (let section = 0; section < SECTIONS; section++) {
    const [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    if (profitOf(left).profit < profitOf(right).profit) low = left
    else high = right
  }
  return most
}
