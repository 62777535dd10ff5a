import { sqrtPriceAtTick } from '../server/src/swap/routing/pools/tick-math.ts'
import type { UniswapV2Pool } from '../server/src/swap/routing/pools/uniswap-v2.ts'
import type { UniswapV3Pool } from '../server/src/swap/routing/pools/uniswap-v3.ts'
import { addressOf, createDraws, type Trade } from './swap-markets.ts'

export type UniswapPool = (UniswapV2Pool | UniswapV3Pool) & Readonly<{ usd: number }>

/** Pools of Uniswap V2 (one a pair, 0.3 %) and V3 (one a pair and fee), as their factories make them. */
export type UniswapMarket = Readonly<{ tokens: readonly string[]; pools: readonly UniswapPool[]; draw(): Trade }>

/** Tokens that the peer looks at first on the main network: dollars, ether and bitcoin. */
const BASES = [
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
/** About what a pool holds, by how many of its tokens are bases; seven times as much or as little. Trades: 100 to 10^5. */
const POOL_USD = [2e4, 2e5, 2e7]
const TRADE_USD = { least: 100, spread: 1e3 }
const FIRST_POOL = 0x200000
const TICK_BASE = Math.log(1.0001)
/** Half-widths of the positions of a V3 pool, in spacings, with their parts of what it holds. */
const RANGES = [
  { width: 10, part: 0.4 },
  { width: 60, part: 0.4 },
  { width: 1000, part: 0.2 },
] as const

/** As `createSwapMarket`: few tokens are traded against everything, and prices of pools differ by less than their fees. */
export function createUniswapMarket(size: number, seed: number): UniswapMarket {
  const draw = createDraws(seed)
  const count = Math.max(BASES.length + 3, Math.round(size * TOKENS_PER_POOL))
  const usd = Array.from({ length: count }, () => Math.exp(draw() * 12 - 4))
  const tokens = usd.map((_, n) => BASES[n] ?? addressOf(n + 1))
  const anyBase = () => Math.floor(draw() * BASES.length)
  const anyToken = () => Math.floor(draw() * count)
  const taken = new Set<string>()
  const pools: UniswapPool[] = []
  while (pools.length < size) {
    const n = pools.length
    // The peer wants a pool of ether and a dollar, to say what gas costs, even where it is free.
    const [a, b] = n === 0 ? [0, 1] : [draw() < 0.9 ? anyBase() : anyToken(), n < count ? n : anyToken()]
    const fee = n === 0 ? 500 : (FEES[Math.floor(draw() * FEES.length)] ?? 'v2')
    const key = `${Math.min(a, b)} ${Math.max(a, b)} ${fee}`
    if (a === b || taken.has(key)) continue
    taken.add(key)
    const value = (POOL_USD[[a, b].filter((token) => token < BASES.length).length] ?? 0) * Math.exp(draw() * 4 - 2)
    const off = 1 + ((draw() - 0.5) * (fee === 'v2' ? 3000 : fee)) / 1e6
    const [first, second] = (tokens[a] ?? '') < (tokens[b] ?? '') ? [a, b] : [b, a]
    const address = addressOf(FIRST_POOL + n)
    const pair = [tokens[first] ?? '', tokens[second] ?? '']
    const identity = { id: address, address, dex: 'bench', tokens: pair, usd: value }
    const prices = [usd[first] ?? 1, (usd[second] ?? 1) * off] as const
    pools.push(
      fee === 'v2' ? { ...identity, ...pairOf(value, prices) } : { ...identity, ...poolOf(value, prices, fee) },
    )
  }
  const unitsOf = (token: number, dollars: number) => BigInt(Math.floor((dollars / (usd[token] ?? 1)) * 1e18))
  return {
    tokens,
    pools,
    draw() {
      for (;;) {
        const [source, target] = [draw() < 0.5 ? anyBase() : anyToken(), anyToken()]
        if (source !== target)
          return { source, target, amountIn: unitsOf(source, TRADE_USD.least * TRADE_USD.spread ** draw()) }
      }
    },
  }
}

function pairOf(value: number, prices: readonly [number, number]) {
  const [reserve0, reserve1] = prices.map((price) => BigInt(Math.floor((value / price) * 1e18)))
  return { kind: 'uniswap-v2', reserves: [reserve0 ?? 0n, reserve1 ?? 0n], feePpm: 3000 } as const
}

/** Positions around the price, each with its part of the value on both sides. */
function poolOf(value: number, [price0, price1]: readonly [number, number], fee: Fee) {
  const tickSpacing = SPACINGS[fee]
  const tick = Math.floor(Math.log(price0 / price1) / TICK_BASE)
  const place = Math.floor(tick / tickSpacing)
  const root = Math.sqrt(price0 / price1)
  const nets = new Map<number, bigint>()
  let liquidity = 0n
  for (const { width, part } of RANGES) {
    const [lower, upper] = [(place - width) * tickSpacing, (place + width + 1) * tickSpacing]
    // Of token 1 between the lower end and the price: L · (√p − √lower).
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
