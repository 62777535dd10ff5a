import { type Curve, leaveRoom } from './curve.ts'
import { createMarket, curveAt, depthOf, type Market } from './market.ts'
import { curveOf, type Pool } from './pool-kinds.ts'

/** The pools of one network at one block, ready to be searched. */
export type PoolMarket = Readonly<{
  market: Market
  pools: readonly Pool[]
  /** Number of a token in the market, by its address. */
  tokens: ReadonlyMap<string, number>
}>

/** All directions through one pool, side by side: ten thousand of them are read for a market. */
type Directions = Readonly<{
  /** The pool's tokens, as `Seen` numbers them. */
  tokens: readonly number[]
  curve: readonly Curve[]
  /** Per direction the places of its tokens in the pool, the price of its first unit and its depth. */
  tokenIn: readonly number[]
  tokenOut: readonly number[]
  numbers: readonly number[]
}>

/** Pools that were seen before: a pool that no block has touched is the same object. Tokens are numbered once, whatever the market. */
type Seen = Readonly<{ directions: WeakMap<Pool, Directions>; tokens: Map<string, number> }>

const createSeen = (): Seen => ({ directions: new WeakMap(), tokens: new Map() })
/** Tokens of pools long gone are forgotten, with all else: some 30 MB. */
const TOKENS_SEEN_MAX = 2 ** 18
let seen = createSeen()

function directionsOf(pool: Pool): Directions {
  const found = seen.directions.get(pool)
  if (found !== undefined) return found
  const tokens = pool.tokens.map((address) => numberOf(seen.tokens, address))
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
  const numbers = curve.flatMap((one) => [one.price[0] as number, depthOf(one)])
  // One list for nearly all pools: what is read ten thousand times is near.
  const isBothWays = curve.length === 2 && pool.tokens.length === 2
  const directions = isBothWays
    ? { tokens, curve, tokenIn: BOTH_WAYS.tokenIn, tokenOut: BOTH_WAYS.tokenOut, numbers }
    : { tokens, curve, tokenIn, tokenOut, numbers }
  seen.directions.set(pool, directions)
  return directions
}

const BOTH_WAYS = { tokenIn: [0, 1], tokenOut: [1, 0] } as const

export function createPoolMarket(pools: readonly Pool[]): PoolMarket {
  if (seen.tokens.size > TOKENS_SEEN_MAX) seen = createSeen()
  const directions = new Array<Directions>(pools.length)
  let count = 0
  for (let index = 0; index < pools.length; index++) {
    const all = directionsOf(pools[index] as Pool)
    directions[index] = all
    count += all.tokenIn.length
  }
  const tokens = new Map<string, number>()
  /** By number in `seen` the number in this market, plus one. */
  const numberHere = new Int32Array(seen.tokens.size)
  const curves = new Array<readonly Curve[]>(pools.length)
  const [pool, side] = [new Int32Array(count), new Uint16Array(count)]
  const [from, to] = [new Int32Array(count), new Int32Array(count)]
  const [price, depth] = [new Float64Array(count), new Float64Array(count)]
  let edge = 0
  for (let index = 0; index < pools.length; index++) {
    const { tokens: own, curve, tokenIn, tokenOut, numbers } = directions[index] as Directions
    for (let place = 0; place < own.length; place++) {
      if (numberHere[own[place] as number] !== 0) continue
      const address = (pools[index] as Pool).tokens[place] as string
      numberHere[own[place] as number] = numberOf(tokens, address) + 1
    }
    curves[index] = curve
    for (let one = 0; one < tokenIn.length; one++, edge++) {
      pool[edge] = index
      side[edge] = one
      from[edge] = (numberHere[own[tokenIn[one] as number] as number] as number) - 1
      to[edge] = (numberHere[own[tokenOut[one] as number] as number] as number) - 1
      price[edge] = numbers[2 * one] as number
      depth[edge] = numbers[2 * one + 1] as number
    }
  }
  const edges = { curves, pool, side, from, to, price, depth }
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
  const kept = market.pool.map((_, edge) => edge).filter((edge) => !edges.has(edge))
  const pairs = kept.map((edge) => market.pairOf[edge] as number)
  const left = createMarket(market.tokenCount, {
    curves: market.curves,
    pool: kept.map((edge) => market.pool[edge] as number),
    side: Uint16Array.from(kept, (edge) => market.side[edge] as number),
    from: pairs.map((pair) => market.pairFrom[pair] as number),
    to: pairs.map((pair) => market.pairTo[pair] as number),
    price: Float64Array.from(kept, (edge) => market.first[edge] as number),
    depth: Float64Array.from(kept, (edge) => depthOf(curveAt(market, edge))),
  })
  return { market: left, pools, tokens }
}

function numberOf(tokens: Map<string, number>, token: string): number {
  const found = tokens.get(token)
  if (found !== undefined) return found
  tokens.set(token, tokens.size)
  return tokens.size - 1
}
