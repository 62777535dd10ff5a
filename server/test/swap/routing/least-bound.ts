import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { bestExactSwap, tokensOnRoutes } from './dual-bound.ts'
import { type Definition, definitionOf } from './pool-definitions.ts'

/*
 * The least upper bound by weak duality (`dual-bound.ts`) of what any route nets, over all values of the tokens, and lower ones that follow
 * from case distinctions. It uses nothing of the search. The bound is convex in the values, because the most that a swap earns is a maximum
 * of functions that are linear in them. So the ellipsoid method finds its minimum. Without `Limits` no limit of hops or swaps is taken into
 * account.
 *
 * With gas or a limit of swaps, the bound lets a route use parts of swaps: for a part of their gas, or in place of a whole one. Each swap is
 * used or not, so the greater of the bounds of both cases is a bound, too. Branch and bound distinguishes the swaps for which that matters
 * most.
 */
type Request = Readonly<{ source: string; target: string; amountIn: bigint }>
export type Values = ReadonlyMap<string, number>

export type Limits = Readonly<{
  /** Cost of a swap, in units of the target. */
  costOf?: (pool: Pool) => number
  /** Most swaps of a route; no limit if absent. */
  swapsMax?: number
  /** Whether the tokens between source and target are passed by two hops only. */
  hasTwoHops?: boolean
  /** The part of each intermediate amount that later swaps leave, in millionths. */
  marginPpm?: number
}>

/** `kept`: the part of the output that later swaps may spend. */
type Swap = Readonly<{ from: number; to: number; definition: Definition; gas: number; kept: number }>
/** Tokens by index; the last one is the target, whose value is 1. */
type Market = Readonly<{
  swaps: readonly Swap[]
  tokens: readonly string[]
  source: number
  amount: number
  swapsMax: number
}>
type Usage = 'any' | 'used' | 'unused'
type Point = Readonly<{ bound: number; values: Float64Array }>

/** `start`: roughly the values of the tokens. `amountOut`: roughly what the best route pays. */
function marketOf(
  pools: readonly Pool[],
  { source, target, amountIn }: Request,
  start: Values,
  amountOut: number,
  { costOf = () => 0, swapsMax = Number.POSITIVE_INFINITY, hasTwoHops = false, marginPpm = 0 }: Limits,
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
        if (hasTwoHops && tokenIn !== source && tokenOut !== target) return []
        const kept = tokenOut === target ? 1 : 1 - marginPpm / 1e6
        const exact: Definition = (cost, worth) => bestExactSwap(pool, from, to, cost, worth, amountOut)
        return [{ from: a, to: b, definition: definitionOf(pool, from, to) ?? exact, gas: costOf(pool), kept }]
      }),
    ),
  )
  return { swaps, tokens, source: indexes.get(source) ?? 0, amount: Number(amountIn), swapsMax }
}

type Evaluation = Readonly<{ bound: number; gradient: Float64Array }>

function evaluate(market: Market, usage: readonly Usage[], values: Float64Array): Evaluation {
  const { swaps, source, amount, swapsMax } = market
  const gradient = new Float64Array(values.length)
  gradient[source] = amount
  let bound = (values[source] as number) * amount
  let places = swapsMax
  const open: (Swap & Readonly<{ net: number; amountIn: number; amountOut: number }>)[] = []
  const add = ({ from, to, net, amountIn, amountOut }: (typeof open)[number]) => {
    bound += net
    gradient[from] = (gradient[from] as number) - amountIn
    gradient[to] = (gradient[to] as number) + amountOut
  }
  for (const [index, swap] of swaps.entries()) {
    const { from, to, definition, gas, kept } = swap
    if (usage[index] === 'unused') continue
    const { profit, amountIn, amountOut } = definition(values[from] as number, kept * (values[to] as number))
    const traded = { ...swap, net: profit - gas, amountIn, amountOut: kept * amountOut }
    if (usage[index] === 'used') {
      add(traded)
      places--
    } else if (profit > gas) open.push(traded)
  }
  if (open.length > places) open.sort((a, b) => b.net - a.net)
  for (const traded of open.slice(0, Math.max(0, places))) add(traded)
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

/** The least bound without case distinctions. */
export function leastBound(
  pools: readonly Pool[],
  request: Request,
  start: Values,
  amountOut: number,
  limits: Limits = {},
): LeastBound {
  const market = marketOf(pools, request, start, amountOut, limits)
  const usage = market.swaps.map((): Usage => 'any')
  const { bound, values } = minimize(market, usage, startOf(market, start), wholeRadius(market.tokens.length), 0)
  return { bound, values: new Map(market.tokens.map((token, index) => [token, values[index] as number])) }
}

type Case = Point & Readonly<{ usage: readonly Usage[] }>

/** Relative to what is known: a case that cannot bring more is closed. */
const CLOSED = 1e-7

/**
 * An upper bound of what any route nets, by at most so many case distinctions. `known`: what some route nets.
 */
export function netBound(
  pools: readonly Pool[],
  request: Request,
  limits: Limits,
  { start, known, casesMax }: Readonly<{ start: Values; known: number; casesMax: number }>,
): Readonly<{ bound: number; cases: number }> {
  const market = marketOf(pools, request, start, known, limits)
  const enough = known * (1 + CLOSED)
  const radius = wholeRadius(market.tokens.length)
  const all = market.swaps.map((): Usage => 'any')
  const root = { ...minimize(market, all, startOf(market, start), radius, enough), usage: all }
  let open: readonly Case[] = [root].filter(({ bound }) => bound > enough)
  let cases = 1
  while (cases < casesMax && open.length > 0) {
    const worst = open.reduce((a, b) => (b.bound > a.bound ? b : a))
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
  return { bound: Math.max(known, ...open.map(({ bound }) => bound)), cases }
}

/** The swap that is closest to being worth its gas or its place at the least bound; -1 if all are decided. */
function mostUndecided({ swaps, swapsMax }: Market, { usage, values }: Case): number {
  const nets = swaps.flatMap(({ from, to, definition, gas, kept }, index) => {
    const { profit } = definition(values[from] as number, kept * (values[to] as number))
    return usage[index] === 'any' && profit > 0 ? [{ index, net: profit - gas, gas }] : []
  })
  nets.sort((a, b) => b.net - a.net)
  const places = swapsMax - usage.filter((one) => one === 'used').length
  const last = Math.max(0, nets[places - 1]?.net ?? 0)
  const isLimited = nets.filter(({ net }) => net > 0).length > places
  const undecided = nets.filter(({ gas }) => gas > 0 || isLimited)
  const distance = ({ net }: (typeof nets)[number]) => Math.abs(net - (isLimited ? last : 0))
  return undecided.length === 0 ? -1 : undecided.reduce((a, b) => (distance(b) < distance(a) ? b : a)).index
}
