import { exactPaths } from './exact-paths.ts'
import { type Executed, executeRoute, type Refused, type RouteSwap, SHARE_ALL } from './execute.ts'
import { curveAt } from './market.ts'
import { type PoolMarket, placesOf, withoutEdges } from './pool-market.ts'
import { relieve } from './rebalance-saturated.ts'
import { type SearchOptions, type Split, search } from './search.ts'

export type RouteRequest = Readonly<{ source: string; target: string; amountIn: bigint }>

/** A route with the exact amounts that it will move at the pools' present state. */
export type Route = Executed &
  Readonly<{
    /** Gas of its swaps. */
    gas: number
    /** No route without gas through the pools looked at pays more, in float64: how good the search was. */
    bound: number
  }>

const SHARES = 2 ** 24
/** Where a pool stands at its end, a share rounded another way may be what it still takes. */
const OTHER_ROUNDINGS = [Math.ceil, Math.round] as const

/**
 * Curves are sampled, so that a little more may arrive than was reckoned with: of what a pool refuses, this part goes elsewhere,
 * or as much as is too much; often more than one stands at its end.
 */
const RELIEFS = [1e-6, 1e-6, 1e-5, 1e-5, 1e-5, 1e-4, 1e-4, 1e-4]

/**
 * So often the search is repeated without a swap that it reckoned with and that integers do not carry: one that a pool refuses,
 * or pays in so few units that what is rounded off counts.
 */
const REPEATS_MAX = 12
/** One unit of fewer is more than a basis point. */
const COARSE = 10_000n

/** The route that pays most, net of gas; null where none leads from source to target. */
export function bestRoute(pools: PoolMarket, request: RouteRequest, options: SearchOptions): Route | null {
  const { source, target, amountIn } = request
  const from = pools.tokens.get(source)
  const to = pools.tokens.get(target)
  if (from === undefined || to === undefined || from === to || amountIn <= 0n) return null
  let open = pools
  let best: Route | null = null
  let bound = 0
  const tryAll = (splits: readonly Split[]): readonly Tried[] =>
    splits.map((split) => {
      const tried = { split, ...tryRounded(open, split, request) }
      const gas = gasOf(open, split)
      if (tried.executed !== null && (best === null || isBetter(tried.executed.amountOut, gas, best, options.gasPrice)))
        best = { ...tried.executed, gas, bound }
      return tried
    })
  for (let repeat = 0; repeat <= REPEATS_MAX; repeat++) {
    const found = search(open.market, from, to, Number(amountIn), options)
    bound = Math.max(bound, found.bound)
    const lost = new Set(tryAll(found.candidates).flatMap((tried) => lostIn(open, tried, target)))
    // Where pools take too little, fewer of them hardly take more.
    if (lost.size === 0 || options.isOver() || (found.tooMuch && repeat > 0)) break
    if (repeat === 0) tryAll(exactPaths(open, from, to, amountIn, options).map(wholly))
    open = withoutEdges(open, lost)
  }
  return best
}

const wholly = (edges: readonly number[]): Split => edges.map((edge) => ({ edge, share: 1 }))

type Tried = Readonly<{ split: Split; executed: Executed | null; refusedAt: number }>

/** With shares rounded down, or where that is refused, the other ways, or less where a pool is at its end. */
function tryRounded(
  pools: PoolMarket,
  split: Split,
  { source, target, amountIn }: RouteRequest,
): Pick<Tried, 'executed' | 'refusedAt'> {
  const tryIt = (split: Split, round: (part: number) => number) =>
    executeRoute(toSwaps(pools, split, round), source, target, amountIn)
  let tried: Executed | Refused = tryIt(split, Math.floor)
  for (const round of OTHER_ROUNDINGS) if (tried.amountOut === null) tried = tryIt(split, round)
  let eased: Split | null = split
  const full = new Set<number>()
  for (const part of RELIEFS) {
    if (tried.amountOut !== null) break
    eased = ease(pools, eased, tried, part, full)
    if (eased === null) break
    tried = tryIt(eased, Math.floor)
  }
  return tried.amountOut === null ? { executed: null, refusedAt: tried.refusedAt } : { executed: tried, refusedAt: -1 }
}

/** With so much less for the swap that was refused that it can take it; by `part` at least. */
function ease(
  { market }: PoolMarket,
  split: Split,
  { refusedAt, amountIn }: Refused,
  part: number,
  full: Set<number>,
): Split | null {
  if (amountIn === 0n) return null
  const pairOf = ({ edge }: Split[number]) => market.pairOf[edge] as number
  const { startIn, price } = curveAt(market, split[refusedAt]?.edge ?? 0)
  const over = 1 - (startIn[price.length] as number) / Number(amountIn)
  full.add(refusedAt)
  const flows = split.map((one) => ({
    from: market.pairFrom[pairOf(one)] as number,
    to: market.pairTo[pairOf(one)] as number,
    share: one.share,
  }))
  const shares = relieve(flows, refusedAt, Math.max(part, over), full)
  return shares && split.map(({ edge }, place) => ({ edge, share: shares[place] as number }))
}

/** The edge of the swap that is refused; else of the one that pays the fewest units of a token that goes on, where they are few. */
function lostIn(pools: PoolMarket, { split, executed, refusedAt }: Tried, target: string): readonly number[] {
  if (executed === null) return split.slice(refusedAt, refusedAt + 1).map(({ edge }) => edge)
  const coarse = executed.swaps.filter((swap) => swap.amountOut < COARSE && swap.pool.tokens[swap.tokenOut] !== target)
  const [least] = coarse.sort((a, b) => Number(a.amountOut - b.amountOut))
  if (least === undefined) return []
  const isLeast = (swap: RouteSwap) =>
    swap.pool === least.pool && swap.tokenIn === least.tokenIn && swap.tokenOut === least.tokenOut
  const place = toSwaps(pools, split, Math.floor).findIndex(isLeast)
  return split.slice(place, place + 1).map(({ edge }) => edge)
}

function isBetter(amountOut: bigint, gas: number, best: Route, gasPrice: number): boolean {
  const more = amountOut - best.amountOut
  const gasCost = BigInt(Math.round((gas - best.gas) * gasPrice))
  return more > gasCost
}

function gasOf({ market }: PoolMarket, split: Split): number {
  return split.reduce((sum, { edge }) => sum + curveAt(market, edge).gas, 0)
}

function toSwaps(pools: PoolMarket, split: Split, round: (part: number) => number): RouteSwap[] {
  return split.map(({ edge, share }) => {
    const pool = pools.pools[pools.market.pool[edge] as number] as RouteSwap['pool']
    // The greatest share means all that is left, so a part is at most one below it.
    const part = share === 1 ? SHARE_ALL : Math.min(SHARE_ALL - 1, round(share * SHARES))
    return { pool, ...placesOf(pools, edge), share: part }
  })
}
