import { type Curve, scaleOutput, withCapacityMargin } from './curve.ts'
import { createMarket, curveAt, depthOf, type Market } from './market.ts'
import { curveOf, type Pool } from './pool-kinds.ts'

/** The pools of one network at one block, and the market that the search reads. */
export type PoolMarket = Readonly<{
  market: Market
  pools: readonly Pool[]
  /** Index of each token in the market, by address. */
  tokens: ReadonlyMap<string, number>
}>

/** All directions of one pool as columns, compact because building a market reads ten thousand of them. */
type Directions = Readonly<{
  /** The pool's tokens, as numbered by `PoolCache`. */
  tokens: readonly number[]
  curve: readonly Curve[]
  /** Per direction, the indexes of its tokens in the pool; and in `pricesAndDepths` its spot price and its depth. */
  tokenIn: readonly number[]
  tokenOut: readonly number[]
  pricesAndDepths: readonly number[]
}>

/**
 * Directions of pools from earlier markets. A pool that no block has changed since is the same object. Token numbers are shared by all
 * markets.
 */
type PoolCache = Readonly<{ directions: WeakMap<Pool, Directions>; tokens: Map<string, number> }>

const createCache = (): PoolCache => ({ directions: new WeakMap(), tokens: new Map() })
/** Above this number of tokens, including those of removed pools, the whole cache is dropped. It then has some 30 MB. */
const CACHED_TOKENS_MAX = 2 ** 18
let cache = createCache()

function directionsOf(pool: Pool): Directions {
  const cached = cache.directions.get(pool)
  if (cached !== undefined) return cached
  const tokens = pool.tokens.map((address) => numberOf(cache.tokens, address))
  const curve: Curve[] = []
  const tokenIn: number[] = []
  const tokenOut: number[] = []
  for (let from = 0; from < pool.tokens.length; from++) {
    for (let to = 0; to < pool.tokens.length; to++) {
      const fullCurve = from === to ? null : curveOf(pool, from, to)
      if (fullCurve === null || fullCurve.price.length === 0) continue
      curve.push(withCapacityMargin(fullCurve))
      tokenIn.push(from)
      tokenOut.push(to)
    }
  }
  const pricesAndDepths = curve.flatMap((one) => [one.price[0] as number, depthOf(one)])
  // Nearly all pools have two tokens. They share these two arrays, which stay in the CPU cache.
  const isTwoTokenPool = curve.length === 2 && pool.tokens.length === 2
  const directions = isTwoTokenPool
    ? { tokens, curve, tokenIn: TWO_TOKEN_DIRECTIONS.tokenIn, tokenOut: TWO_TOKEN_DIRECTIONS.tokenOut, pricesAndDepths }
    : { tokens, curve, tokenIn, tokenOut, pricesAndDepths }
  cache.directions.set(pool, directions)
  return directions
}

const TWO_TOKEN_DIRECTIONS = { tokenIn: [0, 1], tokenOut: [1, 0] } as const

export function createPoolMarket(pools: readonly Pool[]): PoolMarket {
  if (cache.tokens.size > CACHED_TOKENS_MAX) cache = createCache()
  const directions = new Array<Directions>(pools.length)
  let count = 0
  for (let index = 0; index < pools.length; index++) {
    const all = directionsOf(pools[index] as Pool)
    directions[index] = all
    count += all.tokenIn.length
  }
  const tokens = new Map<string, number>()
  /** By the token's number in the cache, its index in this market plus one; 0 = not in this market. */
  const marketNumber = new Int32Array(cache.tokens.size)
  const curves = new Array<readonly Curve[]>(pools.length)
  const [pool, direction] = [new Int32Array(count), new Uint16Array(count)]
  const [from, to] = [new Int32Array(count), new Int32Array(count)]
  const [price, depth] = [new Float64Array(count), new Float64Array(count)]
  let edge = 0
  for (let index = 0; index < pools.length; index++) {
    const { tokens: poolTokens, curve, tokenIn, tokenOut, pricesAndDepths } = directions[index] as Directions
    for (let position = 0; position < poolTokens.length; position++) {
      if (marketNumber[poolTokens[position] as number] !== 0) continue
      const address = (pools[index] as Pool).tokens[position] as string
      marketNumber[poolTokens[position] as number] = numberOf(tokens, address) + 1
    }
    curves[index] = curve
    for (let one = 0; one < tokenIn.length; one++, edge++) {
      pool[edge] = index
      direction[edge] = one
      from[edge] = (marketNumber[poolTokens[tokenIn[one] as number] as number] as number) - 1
      to[edge] = (marketNumber[poolTokens[tokenOut[one] as number] as number] as number) - 1
      price[edge] = pricesAndDepths[2 * one] as number
      depth[edge] = pricesAndDepths[2 * one + 1] as number
    }
  }
  const edges = { curves, pool, direction, from, to, price, depth }
  return { market: createMarket(tokens.size, edges), pools, tokens }
}

/** Indexes of an edge's tokens in `tokens` of its pool. */
export function tokenIndexes(
  { market, pools, tokens }: PoolMarket,
  edge: number,
): Readonly<{ tokenIn: number; tokenOut: number }> {
  const pool = pools[market.pool[edge] as number] as Pool
  const pair = market.pairOf[edge] as number
  const indexOf = (token: number | undefined) => pool.tokens.findIndex((address) => tokens.get(address) === token)
  return { tokenIn: indexOf(market.pairFrom[pair]), tokenOut: indexOf(market.pairTo[pair]) }
}

/** A copy of the market for routes of two hops, in which first hops to intermediate tokens pay a part less, in millionths. */
export function withMargin(
  { market, pools, tokens }: PoolMarket,
  { source, target }: Readonly<{ source: string; target: string }>,
  marginPpm: number,
): PoolMarket {
  const [from, to] = [tokens.get(source), tokens.get(target)]
  const curves = [...market.curves]
  for (let edge = 0; edge < market.pool.length; edge++) {
    const [pair, pool, direction] = [market.pairOf[edge], market.pool[edge], market.direction[edge]] as [
      number,
      number,
      number,
    ]
    if (market.pairFrom[pair] !== from || market.pairTo[pair] === to) continue
    curves[pool] = (curves[pool] as readonly Curve[]).with(
      direction,
      scaleOutput(curveAt(market, edge), 1 - marginPpm / 1e6),
    )
  }
  return withoutEdges({ market: { ...market, curves }, pools, tokens }, new Set())
}

/** A copy of the market without `edges`. Edge numbers change. */
export function withoutEdges({ market, pools, tokens }: PoolMarket, edges: ReadonlySet<number>): PoolMarket {
  const remaining = market.pool.map((_, edge) => edge).filter((edge) => !edges.has(edge))
  const pairs = remaining.map((edge) => market.pairOf[edge] as number)
  const reduced = createMarket(market.tokenCount, {
    curves: market.curves,
    pool: remaining.map((edge) => market.pool[edge] as number),
    direction: Uint16Array.from(remaining, (edge) => market.direction[edge] as number),
    from: pairs.map((pair) => market.pairFrom[pair] as number),
    to: pairs.map((pair) => market.pairTo[pair] as number),
    price: Float64Array.from(remaining, (edge) => curveAt(market, edge).price[0] as number),
    depth: Float64Array.from(remaining, (edge) => depthOf(curveAt(market, edge))),
  })
  return { market: reduced, pools, tokens }
}

function numberOf(tokens: Map<string, number>, token: string): number {
  const cached = tokens.get(token)
  if (cached !== undefined) return cached
  tokens.set(token, tokens.size)
  return tokens.size - 1
}
