import { type Pool, swapExact } from './pool-kinds.ts'
import { type PoolMarket, placesOf } from './pool-market.ts'

type Arrival = Readonly<{ units: bigint; edges: readonly number[]; passed: readonly number[] }>

/**
 * The best single path of each length from 1 to `hopsMax`, the whole amount through it, in the pools' own integers: where amounts
 * are so small that a path which is best in float64 is lost in rounding.
 */
export function exactPaths(
  pools: PoolMarket,
  source: number,
  target: number,
  amountIn: bigint,
  { hopsMax, isOver }: Readonly<{ hopsMax: number; isOver: () => boolean }>,
): readonly (readonly number[])[] {
  let last = new Map<number, Arrival>([[source, { units: amountIn, edges: [], passed: [source] }]])
  const paths: (readonly number[])[] = []
  for (let hop = 1; hop <= hopsMax && !isOver(); hop++) {
    const now = new Map<number, Arrival>()
    for (const [token, arrival] of last) if (token !== target) goOn(pools, token, arrival, now)
    const arrived = now.get(target)
    if (arrived !== undefined) paths.push(arrived.edges)
    last = now
  }
  return paths
}

/** One hop further from one token. */
function goOn(pools: PoolMarket, token: number, { units, edges, passed }: Arrival, now: Map<number, Arrival>): void {
  const { first, pool, firstPair, firstEdge, pairTo } = pools.market
  const end = firstEdge[firstPair[token + 1] as number] as number
  for (let edge = firstEdge[firstPair[token] as number] as number; edge < end; edge++) {
    const next = pairTo[pools.market.pairOf[edge] as number] as number
    const best = now.get(next)?.units ?? 0n
    // No pool pays more than its first price.
    const most = Number(units) * (first[edge] as number)
    if (passed.includes(next) || most < Number(best)) continue
    const { tokenIn, tokenOut } = placesOf(pools, edge)
    const swapped = swapExact(pools.pools[pool[edge] as number] as Pool, tokenIn, tokenOut, units)
    if (swapped !== null && swapped.amountOut > best)
      now.set(next, { units: swapped.amountOut, edges: [...edges, edge], passed: [...passed, next] })
  }
}
