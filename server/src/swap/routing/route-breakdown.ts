import type { ExecutedSwap } from './execute.ts'

/** One pool's share of a hop, in `WHOLE`; the pools of a hop add up to it. */
export type PoolPart = Readonly<{ swap: ExecutedSwap; share: number }>

/** All flow from one token to another, and the pools that share it. */
export type Hop = Readonly<{ from: string; to: string; pools: readonly PoolPart[] }>

/** One path of tokens and its share of the input, in `WHOLE`; the paths of a route add up to it. */
export type RoutePath = Readonly<{ share: number; hops: readonly Hop[] }>

/**
 * Parts in a whole: 128 to the percent, so that percentages are exact as IEEE 754 doubles, and add up to exactly 100 in any order
 * for a client that adds JSON numbers.
 */
export const WHOLE = 12_800
export const toPercent = (share: number): number => (share * 100) / WHOLE

type Pair = {
  from: string
  to: string
  swaps: ExecutedSwap[]
  units: bigint
  /** Share of the route's input that passes through this pair, 0 to 1. */
  part: number
}

/**
 * Decomposes a route, which may split and join at every token, into paths from source to target: repeatedly extracts the widest path. A hop
 * that several paths share has the same pools in each.
 */
export function breakDown(swaps: readonly ExecutedSwap[], source: string, target: string): readonly RoutePath[] {
  const pairs = pairsOf(swaps, source)
  const hops = new Map([...pairs.values()].map((pair) => [pair, hopOf(pair)]))
  const left = new Map([...pairs.values()].map((pair) => [pair, pair.part]))
  const paths: { part: number; hops: Hop[] }[] = []
  // Every round exhausts at least one pair, so there are at most as many paths as pairs.
  for (let round = 0; round < hops.size; round++) {
    const path = widest(left, source, target)
    if (path.length === 0) break
    const part = Math.min(...path.map((pair) => left.get(pair) ?? 0))
    for (const pair of path) {
      const rest = (left.get(pair) ?? 0) - part
      left.set(pair, rest < 1e-9 ? 0 : rest)
    }
    paths.push({ part, hops: path.flatMap((pair) => hops.get(pair) ?? []) })
  }
  const shares = apportion(paths.map(({ part }) => part))
  return paths
    .map((path, index) => ({ share: shares[index] as number, hops: path.hops }))
    .filter(({ share }) => share > 0)
}

/** Groups swaps between the same two tokens, in execution order, each group with its share of the input. */
function pairsOf(swaps: readonly ExecutedSwap[], source: string): ReadonlyMap<string, Pair> {
  const pairs = new Map<string, Pair>()
  const outflow = new Map<string, bigint>()
  for (const swap of swaps) {
    const from = swap.pool.tokens[swap.tokenIn] as string
    const to = swap.pool.tokens[swap.tokenOut] as string
    const pair = pairs.get(`${from} ${to}`) ?? { from, to, swaps: [], units: 0n, part: 0 }
    pair.swaps.push(swap)
    pair.units += swap.amountIn
    pairs.set(`${from} ${to}`, pair)
    outflow.set(from, (outflow.get(from) ?? 0n) + swap.amountIn)
  }
  const partAt = new Map([[source, 1]])
  for (const pair of pairs.values()) {
    pair.part = (partAt.get(pair.from) ?? 0) * ratio(pair.units, outflow.get(pair.from) ?? 1n)
    partAt.set(pair.to, (partAt.get(pair.to) ?? 0) + pair.part)
  }
  return pairs
}

/** Precise enough for parts of parts. */
const SCALE = 1_000_000_000_000n
const ratio = (part: bigint, whole: bigint): number => Number((part * SCALE) / whole) / Number(SCALE)

function hopOf({ from, to, swaps, units }: Pair): Hop {
  const shares = apportion(swaps.map(({ amountIn }) => ratio(amountIn, units)))
  return { from, to, pools: swaps.map((swap, index) => ({ swap, share: shares[index] as number })) }
}

/** The path whose narrowest pair is widest. */
function widest(left: ReadonlyMap<Pair, number>, source: string, target: string): readonly Pair[] {
  const best = new Map<string, { width: number; by: Pair | null }>([
    [source, { width: Number.POSITIVE_INFINITY, by: null }],
  ])
  // In execution order all pairs into a token come before the pairs out of it.
  for (const [pair, width] of left) {
    const before = best.get(pair.from)
    if (before === undefined || width <= 0) continue
    const through = Math.min(before.width, width)
    if (through > (best.get(pair.to)?.width ?? 0)) best.set(pair.to, { width: through, by: pair })
  }
  const path: Pair[] = []
  for (let at = best.get(target); at !== undefined && at.by !== null; at = best.get(at.by.from)) path.unshift(at.by)
  return path
}

/** Shares that add up to exactly `WHOLE` (largest remainder method). */
function apportion(parts: readonly number[]): readonly number[] {
  const whole = parts.reduce((sum, part) => sum + part, 0) || 1
  const exact = parts.map((part) => (part / whole) * WHOLE)
  const shares = exact.map(Math.floor)
  const missing = WHOLE - shares.reduce((sum, share) => sum + share, 0)
  const order = exact
    .map((value, index) => ({ index, rest: value - Math.floor(value) }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index)
  for (const { index } of order.slice(0, missing)) shares[index] = (shares[index] as number) + 1
  return shares
}
