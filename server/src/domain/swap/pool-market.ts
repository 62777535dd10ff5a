import { type Curve, leaveRoom } from './curve.ts'
import { curveOf, type Pool } from './kinds.ts'
import { createMarket, type Edge, type Market } from './market.ts'

/** The pools of one network at one block, ready to be searched. */
export type PoolMarket = Readonly<{
  market: Market
  pools: readonly Pool[]
  /** Number of a token in the market, by its address. */
  tokens: ReadonlyMap<string, number>
}>

/** Directions of a pool that was seen before: a pool that no block has touched is the same object. */
const known = new WeakMap<Pool, readonly Readonly<{ tokenIn: number; tokenOut: number; curve: Curve }>[]>()

function directionsOf(pool: Pool) {
  const found = known.get(pool)
  if (found) return found
  const directions = pool.tokens.flatMap((_, tokenIn) =>
    pool.tokens.flatMap((_, tokenOut) => {
      const curve = tokenIn === tokenOut ? null : curveOf(pool, tokenIn, tokenOut)
      return curve === null ? [] : [{ tokenIn, tokenOut, curve: leaveRoom(curve) }]
    }),
  )
  known.set(pool, directions)
  return directions
}

export function createPoolMarket(pools: readonly Pool[]): PoolMarket {
  const tokens = new Map<string, number>()
  const numberOf = (token: string) => {
    const found = tokens.get(token)
    if (found !== undefined) return found
    tokens.set(token, tokens.size)
    return tokens.size - 1
  }
  const edges: Edge[] = []
  for (const [index, pool] of pools.entries()) {
    const numbers = pool.tokens.map(numberOf)
    for (const { tokenIn, tokenOut, curve } of directionsOf(pool))
      edges.push({ pool: index, from: numbers[tokenIn] as number, to: numbers[tokenOut] as number, curve })
  }
  return { market: createMarket(tokens.size, edges), pools, tokens }
}
