import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { bestExactSwap, tokensOnRoutes } from './dual-bound.ts'
import { type Definition, definitionOf } from './pool-definitions.ts'

/*
 * The least upper bound by weak duality (`dual-bound.ts`) of what any route nets, over all values of the tokens, and lower ones that follow
 * from case distinctions. It uses nothing of the search. The bound is convex in the values, because the most that a swap earns is a maximum
 * of functions that are linear in them. So the ellipsoid method finds its minimum. No limit of hops or swaps is taken into account.
 *
 * With gas, the bound lets a route use a part of a swap for a part of its gas. Each swap is used or not, so the greater of the bounds of both
 * cases is a bound, too. Branch and bound distinguishes the swaps for which that matters most.
 */
type Request = Readonly<{ source: string; target: string; amountIn: bigint }>
export type Values = ReadonlyMap<string, number>

type Swap = Readonly<{ from: number; to: number; definition: Definition; gas: number }>
/** Tokens by index; the last one is the target, whose value is 1. */
type Market = Readonly<{ swaps: readonly Swap[]; tokens: readonly string[]; source: number; amount: number }>
type Usage = 'any' | 'used' | 'unused'
type Point = Readonly<{ bound: number; values: Float64Array }>

/** `start`: roughly the values of the tokens. `amountOut`: roughly what the best route pays. */
function marketOf(
  pools: readonly Pool[],
  { source, target, amountIn }: Request,
  start: Values,
  amountOut: number,
  costOf: (pool: Pool) => number,
): Market {
  const passed = tokensOnRoutes(pools, source, target)
  const others = [...passed].filter((token) => token !== target && start.has(token))
  const tokens = [...others, target]
  const indexes = new Map(tokens.map((token, index) => [token, index]))
  const swaps = pools.flatMap((pool) =>
    pool.tokens.flatMap((tokenIn, from) =>
      pool.tokens.flatMap((tokenOut, to): readonly Swap[] => {
        const [a, b] = [indexes.get(tokenIn), indexes.get(tokenOut)]
        if (a === undefined || b === undefined || a === b || tokenIn === target || tokenOut === source) return []
        const exact: Definition = (cost, worth) => bestExactSwap(pool, from, to, cost, worth, amountOut)
        return [{ from: a, to: b, definition: definitionOf(pool, from, to) ?? exact, gas: costOf(pool) }]
      }),
    ),
  )
  return { swaps, tokens, source: indexes.get(source) ?? 0, amount: Number(amountIn) }
}

type Evaluation = Readonly<{ bound: number; gradient: Float64Array }>

function evaluate({ swaps, source, amount }: Market, usage: readonly Usage[], values: Float64Array): Evaluation {
  const gradient = new Float64Array(values.length)
  gradient[source] = amount
  let bound = (values[source] as number) * amount
  for (const [index, { from, to, definition, gas }] of swaps.entries()) {
    if (usage[index] === 'unused') continue
    const { profit, amountIn, amountOut } = definition(values[from] as number, values[to] as number)
    if (usage[index] === 'any' && profit <= gas) continue
    bound += profit - gas
    gradient[from] = (gradient[from] as number) - amountIn
    gradient[to] = (gradient[to] as number) + amountOut
  }
  return { bound, gradient }
}

/** Relative to the bound. */
const PRECISION = 1e-8
const STEPS_MAX = 20_000

/** The values of least bound within a ball around `start`, by the ellipsoid method. Stops below `enough`. */
function minimize(market: Market, usage: readonly Usage[], start: Float64Array, radius: number, enough: number): Point {
  const size = start.length - 1
  // In units of the start values, without the target.
  const x = new Float64Array(size).fill(1)
  const shape = new Float64Array(size * size)
  for (let n = 0; n < size; n++) shape[n * size + n] = radius * radius
  let best: Point = { bound: Number.POSITIVE_INFINITY, values: start }
  const direction = new Float64Array(size)
  for (let step = 0; step < STEPS_MAX; step++) {
    const negative = x.findIndex((one) => one <= 0)
    const slope = new Float64Array(size)
    let least = 0
    if (negative >= 0) slope[negative] = -1
    else {
      const values = start.map((one, n) => (n < size ? one * (x[n] as number) : one))
      const { bound, gradient } = evaluate(market, usage, values)
      if (bound < best.bound) best = { bound, values }
      if (bound <= enough) break
      for (let n = 0; n < size; n++) slope[n] = (gradient[n] as number) * (start[n] as number)
      least = PRECISION * Math.abs(bound)
    }
    let square = 0
    for (let row = 0; row < size; row++) {
      let sum = 0
      for (let n = 0; n < size; n++) sum += (shape[row * size + n] as number) * (slope[n] as number)
      direction[row] = sum
      square += sum * (slope[row] as number)
    }
    const length = Math.sqrt(square)
    // The minimum is at most this much lower.
    if (!(length > least)) break
    for (let n = 0; n < size; n++) x[n] = (x[n] as number) - (direction[n] as number) / length / (size + 1)
    const [factor, cut] = size === 1 ? [1 / 4, 0] : [size ** 2 / (size ** 2 - 1), 2 / (size + 1) / square]
    for (let row = 0; row < size; row++)
      for (let n = 0; n < size; n++)
        shape[row * size + n] =
          factor * ((shape[row * size + n] as number) - cut * (direction[row] as number) * (direction[n] as number))
  }
  return best
}

const startOf = ({ tokens }: Market, start: Values) =>
  Float64Array.from(tokens, (token, index) => (index === tokens.length - 1 ? 1 : (start.get(token) ?? 1)))

/** The ball contains values from near zero to twice the start. */
const wholeRadius = (size: number) => Math.sqrt(size)

export type LeastBound = Readonly<{ bound: number; values: Values }>

/** The least bound without gas. */
export function leastBound(pools: readonly Pool[], request: Request, start: Values, amountOut: number): LeastBound {
  const market = marketOf(pools, request, start, amountOut, () => 0)
  const usage = market.swaps.map((): Usage => 'any')
  const { bound, values } = minimize(market, usage, startOf(market, start), wholeRadius(market.tokens.length), 0)
  return { bound, values: new Map(market.tokens.map((token, index) => [token, values[index] as number])) }
}

type Case = Point & Readonly<{ usage: readonly Usage[] }>

/** Relative to what is known: a case that cannot bring more is closed. */
const CLOSED = 1e-7

/**
 * An upper bound of what any route nets, by at most so many case distinctions. `known`: what some route nets. `relaxed`: the bound without
 * case distinctions.
 */
export function netBound(
  pools: readonly Pool[],
  request: Request,
  {
    start,
    known,
    costOf,
    casesMax,
  }: Readonly<{ start: Values; known: number; costOf(pool: Pool): number; casesMax: number }>,
): Readonly<{ bound: number; relaxed: number; cases: number }> {
  const market = marketOf(pools, request, start, known, costOf)
  const enough = known * (1 + CLOSED)
  const radius = wholeRadius(market.tokens.length)
  const all = market.swaps.map((): Usage => 'any')
  const root = { ...minimize(market, all, startOf(market, start), radius, 0), usage: all }
  let open: readonly Case[] = [root]
  let cases = 1
  while (cases < casesMax) {
    const worst = open.reduce<Case | null>((a, b) => (a === null || b.bound > a.bound ? b : a), null)
    if (worst === null || worst.bound <= enough) break
    const swap = mostUndecided(market, worst)
    if (swap < 0) break
    const halves = (['used', 'unused'] as const).map((one) => {
      const usage = worst.usage.with(swap, one)
      const point = minimize(market, usage, worst.values, radius, enough)
      // A restricted case has no higher bound.
      return { ...(point.bound < worst.bound ? point : { ...point, bound: worst.bound }), usage }
    })
    cases += 2
    open = [...open.filter((one) => one !== worst), ...halves.filter(({ bound }) => bound > enough)]
  }
  return { bound: Math.max(known, ...open.map(({ bound }) => bound)), relaxed: root.bound, cases }
}

/** The swap whose profit is closest to its gas at the least bound; -1 if all are decided. */
function mostUndecided({ swaps }: Market, { usage, values }: Case): number {
  let [best, least] = [-1, Number.POSITIVE_INFINITY]
  for (const [index, { from, to, definition, gas }] of swaps.entries()) {
    if (usage[index] !== 'any' || gas === 0) continue
    const { profit } = definition(values[from] as number, values[to] as number)
    if (profit === 0) continue
    const distance = Math.abs(profit - gas)
    if (distance < least) [best, least] = [index, distance]
  }
  return best
}
