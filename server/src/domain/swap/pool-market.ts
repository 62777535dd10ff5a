import { type Curve, leaveRoom } from './curve.ts'
import { curveOf, type Pool } from './kinds.ts'
import { createMarket, depthOf, type Market } from './market.ts'

/** The pools of one network at one block, ready to be searched. */
export type PoolMarket = Readonly<{
  market: Market
  pools: readonly Pool[]
  /** Number of a token in the market, by its address. */
  tokens: ReadonlyMap<string, number>
}>

/** All directions through one pool, side by side: ten thousand of them are read for a market. */
type Directions = Readonly<{
  curve: readonly Curve[]
  /** Per direction the places of its tokens in the pool, the price of its first unit and its depth. */
  tokenIn: readonly number[]
  tokenOut: readonly number[]
  numbers: Float64Array
}>

/** Directions of a pool that was seen before: a pool that no block has touched is the same object. */
const known = new WeakMap<Pool, Directions>()

function directionsOf(pool: Pool): Directions {
  const found = known.get(pool)
  if (found !== undefined) return found
  const curve: Curve[] = []
  const tokenIn: number[] = []
  const tokenOut: number[] = []
  for (let from = 0; from < pool.tokens.length; from++) {
    for (let to = 0; to < pool.tokens.length; to++) {
      const whole = from === to ? null : curveOf(pool, from, to)
      if (whole === null || whole.price.length === 0) continue
      curve.push(leaveRoom(whole))
      tokenIn.push(from)
      tokenOut.push(to)
    }
  }
  const numbers = Float64Array.from(curve.flatMap((one) => [one.price[0] as number, depthOf(one)]))
  // One list for nearly all pools: what is read ten thousand times is near.
  const isBothWays = curve.length === 2 && pool.tokens.length === 2
  const directions = isBothWays
    ? { curve, tokenIn: BOTH_WAYS.tokenIn, tokenOut: BOTH_WAYS.tokenOut, numbers }
    : { curve, tokenIn, tokenOut, numbers }
  known.set(pool, directions)
  return directions
}

const BOTH_WAYS = { tokenIn: [0, 1], tokenOut: [1, 0] } as const

export function createPoolMarket(pools: readonly Pool[]): PoolMarket {
  const tokens = new Map<string, number>()
  const directions = new Array<Directions>(pools.length)
  let count = 0
  for (let index = 0; index < pools.length; index++) {
    const all = directionsOf(pools[index] as Pool)
    directions[index] = all
    count += all.curve.length
  }
  const edges = {
    pool: new Int32Array(count),
    from: new Int32Array(count),
    to: new Int32Array(count),
    curve: new Array<Curve>(count),
    price: new Float64Array(count),
    depth: new Float64Array(count),
  }
  const numbersOf: number[] = []
  let edge = 0
  for (let index = 0; index < pools.length; index++) {
    const addresses = (pools[index] as Pool).tokens
    for (let place = 0; place < addresses.length; place++)
      numbersOf[place] = numberOf(tokens, addresses[place] as string)
    const { curve, tokenIn, tokenOut, numbers } = directions[index] as Directions
    for (let one = 0; one < curve.length; one++, edge++) {
      edges.pool[edge] = index
      edges.from[edge] = numbersOf[tokenIn[one] as number] as number
      edges.to[edge] = numbersOf[tokenOut[one] as number] as number
      edges.curve[edge] = curve[one] as Curve
      edges.price[edge] = numbers[2 * one] as number
      edges.depth[edge] = numbers[2 * one + 1] as number
    }
  }
  return { market: createMarket(tokens.size, edges), pools, tokens }
}

/** Where the tokens of an edge stand in its pool. */
export function placesOf(
  { market, pools, tokens }: PoolMarket,
  edge: number,
): Readonly<{ tokenIn: number; tokenOut: number }> {
  const pool = pools[market.pool[edge] as number] as Pool
  const pair = market.pairOf[edge] as number
  const place = (token: number | undefined) => pool.tokens.findIndex((address) => tokens.get(address) === token)
  return { tokenIn: place(market.pairFrom[pair]), tokenOut: place(market.pairTo[pair]) }
}

/** The same market without some of its edges. */
export function withoutEdges({ market, pools, tokens }: PoolMarket, edges: ReadonlySet<number>): PoolMarket {
  const kept = Int32Array.from([...market.curve.keys()].filter((edge) => !edges.has(edge)))
  const curve = Array.from(kept, (edge) => market.curve[edge] as Curve)
  const pairs = kept.map((edge) => market.pairOf[edge] as number)
  const left = createMarket(market.tokenCount, {
    pool: kept.map((edge) => market.pool[edge] as number),
    from: pairs.map((pair) => market.pairFrom[pair] as number),
    to: pairs.map((pair) => market.pairTo[pair] as number),
    curve,
    price: Float64Array.from(curve, ({ price }) => price[0] as number),
    depth: Float64Array.from(curve, depthOf),
  })
  return { market: left, pools, tokens }
}

function numberOf(tokens: Map<string, number>, token: string): number {
  const found = tokens.get(token)
  if (found !== undefined) return found
  tokens.set(token, tokens.size)
  return tokens.size - 1
}
