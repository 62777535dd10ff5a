import { exactPaths } from './exact-paths.ts'
import { type Executed, executeRoute, type RouteSwap, SHARE_ALL } from './execute.ts'
import { curveAt } from './market.ts'
import { type PoolMarket, placesOf, withoutEdges } from './pool-market.ts'
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
const ROUNDINGS = [Math.floor, Math.ceil, Math.round] as const

/**
 * Curves are sampled, so that a little more may arrive than was reckoned with: of a pool that refuses it, this part goes to those
 * after it; often more than one stands at its end.
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
    if (lost.size === 0 || options.isOver()) break
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
  let refusedAt = -1
  for (const round of ROUNDINGS) {
    const tried = executeRoute(toSwaps(pools, split, round), source, target, amountIn)
    if (tried.amountOut !== null) return { executed: tried, refusedAt: -1 }
    refusedAt = tried.refusedAt
  }
  const shares = split.map(({ share }) => share)
  for (const part of RELIEFS) {
    const place = relievable(pools, split, refusedAt)
    if (place < 0) break
    shares[place] = (shares[place] as number) * (1 - part)
    const relieved = split.map(({ edge }, place) => ({ edge, share: shares[place] as number }))
    const tried = executeRoute(toSwaps(pools, relieved, Math.floor), source, target, amountIn)
    if (tried.amountOut !== null) return { executed: tried, refusedAt: -1 }
    refusedAt = tried.refusedAt
  }
  return { executed: null, refusedAt }
}

/** The swap itself where others follow it; else the last one that others follow of those that bring its token, or theirs. */
function relievable({ market }: PoolMarket, split: Split, refusedAt: number): number {
  const tokenOf = (tokens: Int32Array, place: number) => tokens[market.pairOf[split[place]?.edge ?? 0] as number]
  for (let near = [refusedAt]; near.length > 0; ) {
    const found = near.findLast((place) => split[place]?.share !== 1)
    if (found !== undefined) return found
    const [first = 0] = near
    const tokens = new Set(near.map((place) => tokenOf(market.pairFrom, place)))
    near = [...split.keys()].filter((place) => place < first && tokens.has(tokenOf(market.pairTo, place)))
  }
  return -1
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
