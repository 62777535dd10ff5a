import type { ExecutedSwap } from './execute.ts'

/** One pool's part of a hop, in hundredths of a percent; siblings add up to 10 000. */
export type PoolPart = Readonly<{ swap: ExecutedSwap; bps: number }>

/** All that goes from one token to another: the pools that share it. */
export type Hop = Readonly<{ from: string; to: string; pools: readonly PoolPart[] }>

/** One path of tokens and its part of the input; siblings add up to 10 000. */
export type RoutePath = Readonly<{ bps: number; hops: readonly Hop[] }>

const WHOLE = 10_000

type Pair = {
  from: string
  to: string
  swaps: ExecutedSwap[]
  units: bigint
  /** part of the whole input that goes here */
  part: number
}

/**
 * A route, which may split and join at every token, told as paths from source to target: the widest path is taken out again
 * and again. A hop that several paths share shows the same pools in each.
 */
export function breakDown(swaps: readonly ExecutedSwap[], source: string, target: string): readonly RoutePath[] {
  const pairs = pairsOf(swaps, source)
  const hops = new Map([...pairs.values()].map((pair) => [pair, hopOf(pair)]))
  const left = new Map([...pairs.values()].map((pair) => [pair, pair.part]))
  const paths: { part: number; hops: Hop[] }[] = []
  // Every round uses up a pair, so there are at most as many paths as pairs.
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
  const bps = apportionBps(paths.map(({ part }) => part))
  return paths.map((path, index) => ({ bps: bps[index] as number, hops: path.hops })).filter((path) => path.bps > 0)
}

/** Swaps of the same two tokens together, in order of execution, each with its part of the input. */
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

/** Enough digits for hundredths of a percent of hundredths of a percent. */
const SCALE = 1_000_000_000_000n
const ratio = (part: bigint, whole: bigint): number => Number((part * SCALE) / whole) / Number(SCALE)

function hopOf({ from, to, swaps, units }: Pair): Hop {
  const bps = apportionBps(swaps.map(({ amountIn }) => ratio(amountIn, units)))
  return { from, to, pools: swaps.map((swap, index) => ({ swap, bps: bps[index] as number })) }
}

/** The path whose narrowest pair is widest: every token's best is that of the pair that leads to it. */
function widest(left: ReadonlyMap<Pair, number>, source: string, target: string): readonly Pair[] {
  const best = new Map<string, { width: number; by: Pair | null }>([
    [source, { width: Number.POSITIVE_INFINITY, by: null }],
  ])
  // Pairs stand in order of execution: whatever leads to a token comes before what leaves it.
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

/** Hundredths of a percent that add up to exactly 10 000: what rounding down leaves goes to the largest remainders. */
function apportionBps(parts: readonly number[]): readonly number[] {
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
