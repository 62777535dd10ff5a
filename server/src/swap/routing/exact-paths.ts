import { type Pool, swapExact } from './pool-kinds.ts'
import { type PoolMarket, tokenIndexes } from './pool-market.ts'

/** The path with the largest output found for one token and number of hops. `units` are base units of its last token. */
type PartialPath = Readonly<{ units: bigint; edges: readonly number[]; visited: readonly number[] }>

/**
 * The best single path of each length from 1 to `hopsMax` for the whole amount, in the contracts' integers. Needed for amounts so small
 * that rounding decides which path is best.
 */
export function exactPaths(
  pools: PoolMarket,
  source: number,
  target: number,
  amountIn: bigint,
  { hopsMax, isOver }: Readonly<{ hopsMax: number; isOver: () => boolean }>,
): readonly (readonly number[])[] {
  let last = new Map<number, PartialPath>([[source, { units: amountIn, edges: [], visited: [source] }]])
  const paths: (readonly number[])[] = []
  for (let hop = 1; hop <= hopsMax && !isOver(); hop++) {
    const now = new Map<number, PartialPath>()
    for (const [token, path] of last) if (token !== target) extendPath(pools, token, path, now)
    const fullPath = now.get(target)
    if (fullPath !== undefined) paths.push(fullPath.edges)
    last = now
  }
  return paths
}

/** Extends a path by one hop through every pool of its last token. */
function extendPath(pools: PoolMarket, token: number, { units, edges, visited }: PartialPath, now: Map<number, PartialPath>): void {
  const { edgePrice, pool, firstPair, firstEdge, pairTo } = pools.market
  const end = firstEdge[firstPair[token + 1] as number] as number
  for (let edge = firstEdge[firstPair[token] as number] as number; edge < end; edge++) {
    const next = pairTo[pools.market.pairOf[edge] as number] as number
    const best = now.get(next)?.units ?? 0n
    // The spot price bounds the output from above.
    const most = Number(units) * (edgePrice[edge] as number)
    if (visited.includes(next) || most < Number(best)) continue
    const { tokenIn, tokenOut } = tokenIndexes(pools, edge)
    const result = swapExact(pools.pools[pool[edge] as number] as Pool, tokenIn, tokenOut, units)
    if (result !== null && result.amountOut > best)
      now.set(next, { units: result.amountOut, edges: [...edges, edge], visited: [...visited, next] })
  }
}
