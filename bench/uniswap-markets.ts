import { sqrtPriceAtTick } from '../server/src/swap/routing/pools/tick-math.ts'
import type { UniswapV2Pool } from '../server/src/swap/routing/pools/uniswap-v2.ts'
import type { UniswapV3Pool } from '../server/src/swap/routing/pools/uniswap-v3.ts'
import { addressOf, createDraws, createRandom, type Market } from './swap-markets.ts'

export type UniswapPool = (UniswapV2Pool | UniswapV3Pool) & Readonly<{ usd: number }>

/** Pools of Uniswap V2 (one per pair, 0.3 %) and V3 (one per pair and fee), as their factories create them. */
export type UniswapMarket = Market<UniswapPool>

/** Tokens that smart-order-router prefers as intermediaries on Ethereum: ether, three stablecoins and bitcoin. */
const CONNECTORS = [
  '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  '0xdac17f958d2ee523a2206206994597c13d831ec7',
  '0x6b175474e89094c44da98b954eedeac495271d0f',
  '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599',
]
const TOKENS_PER_POOL = 0.3
const SPACINGS = { 500: 10, 3000: 60, 10000: 200 } as const
type Fee = keyof typeof SPACINGS
const FEES: readonly (Fee | 'v2')[] = ['v2', 500, 3000, 3000, 10_000]
/** Median value of a pool, by the number of its connector tokens; the value varies by a factor of e^2 both ways. */
const POOL_USD = [2e4, 2e5, 2e7]
const FIRST_POOL = 0x200000
const TICK_BASE = Math.log(1.0001)
/** Positions of a V3 pool: half-width in tick spacings, and part of the pool's value. */
const POSITIONS = [
  { width: 10, part: 0.4 },
  { width: 60, part: 0.4 },
  { width: 1000, part: 0.2 },
] as const

/** Has the structure of `createSwapMarket`: pools with connector tokens, and prices that differ by less than the fees. */
export function createUniswapMarket(size: number, seed: number): UniswapMarket {
  const random = createRandom(seed)
  const count = Math.max(CONNECTORS.length + 3, Math.round(size * TOKENS_PER_POOL))
  const usd = Array.from({ length: count }, () => Math.exp(random() * 12 - 4))
  const tokens = usd.map((_, n) => CONNECTORS[n] ?? addressOf(n + 1))
  const { anyConnector, anyToken, drawTrade } = createDraws(random, usd, CONNECTORS.length)
  const usedKeys = new Set<string>()
  const pools: UniswapPool[] = []
  while (pools.length < size) {
    const n = pools.length
    // smart-order-router requires a pool of ether and USDC to price gas, even if gas is free.
    const [a, b] = n === 0 ? [0, 1] : [random() < 0.9 ? anyConnector() : anyToken(), n < count ? n : anyToken()]
    const fee = n === 0 ? 500 : (FEES[Math.floor(random() * FEES.length)] ?? 'v2')
    const key = `${Math.min(a, b)} ${Math.max(a, b)} ${fee}`
    if (a === b || usedKeys.has(key)) continue
    usedKeys.add(key)
    const value =
      (POOL_USD[[a, b].filter((token) => token < CONNECTORS.length).length] ?? 0) * Math.exp(random() * 4 - 2)
    const priceFactor = 1 + ((random() - 0.5) * (fee === 'v2' ? 3000 : fee)) / 1e6
    const [first, second] = (tokens[a] ?? '') < (tokens[b] ?? '') ? [a, b] : [b, a]
    const address = addressOf(FIRST_POOL + n)
    const pair = [tokens[first] ?? '', tokens[second] ?? '']
    const identity = { id: address, address, dex: 'bench', tokens: pair, usd: value }
    const prices = [usd[first] ?? 1, (usd[second] ?? 1) * priceFactor] as const
    pools.push(
      fee === 'v2'
        ? { ...identity, ...v2PoolState(value, prices) }
        : { ...identity, ...v3PoolState(value, prices, fee) },
    )
  }
  return { tokens, pools, draw: () => drawTrade(100, 1e3) }
}

function v2PoolState(value: number, prices: readonly [number, number]) {
  const [reserve0, reserve1] = prices.map((price) => BigInt(Math.floor((value / price) * 1e18)))
  return { kind: 'uniswap-v2', reserves: [reserve0 ?? 0n, reserve1 ?? 0n], feePpm: 3000 } as const
}

/** A V3 pool with positions around the price, each with its part of the value on both sides. */
function v3PoolState(value: number, [price0, price1]: readonly [number, number], fee: Fee) {
  const tickSpacing = SPACINGS[fee]
  const tick = Math.floor(Math.log(price0 / price1) / TICK_BASE)
  const tickIndex = Math.floor(tick / tickSpacing)
  const root = Math.sqrt(price0 / price1)
  const nets = new Map<number, bigint>()
  let liquidity = 0n
  for (const { width, part } of POSITIONS) {
    const [lower, upper] = [(tickIndex - width) * tickSpacing, (tickIndex + width + 1) * tickSpacing]
    // Amount of token 1 between the lower end and the price: L · (√p − √lower).
    const units1 = ((value * part) / price1) * 1e18
    const added = BigInt(Math.floor(units1 / (root - Math.sqrt(1.0001 ** lower))))
    nets.set(lower, (nets.get(lower) ?? 0n) + added)
    nets.set(upper, (nets.get(upper) ?? 0n) - added)
    liquidity += added
  }
  const ticks = [...nets].map(([index, net]) => ({ index, net })).sort((x, y) => x.index - y.index)
  return {
    kind: 'uniswap-v3',
    sqrtPrice: sqrtPriceAtTick(tick),
    tick,
    liquidity,
    tickSpacing,
    ticks,
    feePpm: fee,
  } as const
}
