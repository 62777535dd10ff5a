import type { UniswapV2Pool } from '../server/src/swap/routing/pools/uniswap-v2.ts'

/** `source` and `target` are indexes of tokens in the market. */
export type Trade = Readonly<{ source: number; target: number; amountIn: bigint }>

/** `draw` returns the next pseudo-random trade. */
export type Market<P> = Readonly<{ tokens: readonly string[]; pools: readonly P[]; draw(): Trade }>

/** Constant-product pools, the only kind that all routers support. `usd`: the price of a whole unit of each token. */
export type SwapMarket = Market<UniswapV2Pool> & Readonly<{ usd: readonly number[] }>

/** Pseudo-random numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const addressOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** Draws tokens and trades. `usd` is the price of each token; the first `connectorCount` tokens are connector tokens. */
export function createDraws(random: () => number, usd: readonly number[], connectorCount: number) {
  const anyConnector = () => Math.floor(random() * connectorCount)
  const anyToken = () => Math.floor(random() * usd.length)
  const unitsOf = (token: number, dollars: number) => BigInt(Math.floor((dollars / (usd[token] ?? 1)) * 1e18))
  const pickTwo = (first: () => number, second: () => number) => {
    for (;;) {
      const [a, b] = [first(), second()]
      if (a !== b) return [a, b] as const
    }
  }
  /** A trade worth `usdMin` to `usdMin` · `ratio` US dollars, log-uniform. */
  const drawTrade = (usdMin: number, ratio: number): Trade => {
    const [source, target] = pickTwo(() => (random() < 0.5 ? anyConnector() : anyToken()), anyToken)
    return { source, target, amountIn: unitsOf(source, usdMin * ratio ** random()) }
  }
  return { anyConnector, anyToken, unitsOf, pickTwo, drawTrade }
}

const CONNECTORS_MAX = 8
const TOKENS_PER_POOL = 0.3
const FEES_PPM = [500, 3_000, 3_000, 10_000]
/** Median value of each side of a pool, by the number of its connector tokens; the value varies by a factor of e^2 both ways. */
const POOL_USD = [2e4, 2e5, 2e7]
const FIRST_POOL = 0x100000

/**
 * A market with the structure of a real network: nine of ten pools have a connector token on one side, every token has a pool, and the
 * prices of pools differ by less than their fees.
 */
export function createSwapMarket(size: number, seed: number): SwapMarket {
  const random = createRandom(seed)
  const tokenCount = Math.max(5, Math.round(size * TOKENS_PER_POOL))
  const connectorCount = Math.min(CONNECTORS_MAX, Math.max(2, Math.round(tokenCount / 4)))
  const usd = Array.from({ length: tokenCount }, () => Math.exp(random() * 12 - 4))
  const { anyConnector, anyToken, unitsOf, pickTwo, drawTrade } = createDraws(random, usd, connectorCount)
  const tokens = usd.map((_, number) => addressOf(number + 1))
  const pools = Array.from({ length: size }, (_, index): UniswapV2Pool => {
    const [a, b] = pickTwo(
      () => (random() < 0.9 ? anyConnector() : anyToken()),
      () => (random() < 0.25 ? anyConnector() : index < tokenCount ? index : anyToken()),
    )
    const connectors = [a, b].filter((token) => token < connectorCount).length
    const value = (POOL_USD[connectors] ?? 0) * Math.exp(random() * 4 - 2)
    const feePpm = FEES_PPM[Math.floor(random() * FEES_PPM.length)] ?? 3_000
    const priceFactor = 1 + ((random() - 0.5) * feePpm) / 1e6
    const address = addressOf(FIRST_POOL + index)
    return {
      ...{ kind: 'uniswap-v2', id: address, address, dex: 'bench', feePpm },
      tokens: [tokens[a] ?? '', tokens[b] ?? ''],
      reserves: [unitsOf(a, value), unitsOf(b, value * priceFactor)],
    }
  })
  return { tokens, usd, pools, draw: () => drawTrade(100, 1e4) }
}
