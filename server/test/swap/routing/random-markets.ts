import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import type { RouteRequest } from '../../../src/swap/routing/route.ts'
import {
  base,
  createDraws,
  LOG_TICK,
  oneOf,
  type PoolDraw,
  smallUnits,
  type Tier,
  type Units,
  units,
} from './pool-draws.ts'
import { concentratedOf } from './random-pools.ts'
import { meteoraDammV2, meteoraDlmm, pumpSwap, raydiumAmmV4, raydiumClmm, raydiumCpmm } from './solana-pool-draws.ts'
import { cetus, deepbook, turbos } from './sui-pool-draws.ts'

/*
 * Arbitraged markets from pseudo-random numbers: the prices of all pools of a pair differ by less than their fees. In some markets every
 * pool has a connector token, so paths are short; markets of other shapes have longer ones.
 */
function constantProduct(sample: PoolDraw): Pool {
  const feePpm = oneOf([500, 2_500, 3_000, 10_000], sample.draw)
  const priceFactor = 1 + ((sample.draw() - 0.5) * feePpm) / 1e6
  const reserves = [units(sample.value), units(sample.value * sample.price * priceFactor)] as const
  return { ...base(sample), kind: 'uniswap-v2', reserves, feePpm }
}

const TIERS: readonly [Tier, ...Tier[]] = [
  { feePpm: 100, tickSpacing: 1 },
  { feePpm: 500, tickSpacing: 10 },
  { feePpm: 3_000, tickSpacing: 60 },
]

/** One full-range position and four narrow positions around the price. */
function concentrated(sample: PoolDraw): Pool {
  const { feePpm, tickSpacing } = oneOf(TIERS, sample.draw)
  const price = sample.price * (1 + ((sample.draw() - 0.5) * feePpm) / 1e6)
  const tick = Math.floor(Math.log(price) / LOG_TICK)
  const sqrtPrice = BigInt(Math.floor(Math.sqrt(price) * 2 ** 48)) << 48n
  const tickIndex = Math.floor(tick / tickSpacing)
  const outermost = Math.floor(880_000 / tickSpacing)
  const liquidity = (share: number) => units(sample.value * Math.sqrt(sample.price) * share)
  const narrow = Array.from({ length: 4 }, () => ({
    lower: (tickIndex - Math.floor(sample.draw() * 50)) * tickSpacing,
    upper: (tickIndex + 1 + Math.floor(sample.draw() * 50)) * tickSpacing,
    liquidity: liquidity(sample.draw() * 10),
  }))
  const fullRange = { lower: -outermost * tickSpacing, upper: outermost * tickSpacing, liquidity: liquidity(0.2) }
  const state = concentratedOf({ sqrtPrice, tick, tickSpacing, positions: [fullRange, ...narrow] })
  const kind = sample.draw()
  if (kind < 0.4) return { ...base(sample), ...state, kind: 'uniswap-v3', feePpm }
  if (kind < 0.7)
    return {
      ...base(sample),
      ...state,
      kind: 'uniswap-v4',
      lpFeePpm: feePpm,
      protocolFeePpm: [0, Math.floor(feePpm / 10)],
    }
  return { ...base(sample), ...state, kind: 'algebra', ticksBy: 'words', feePpm: [feePpm, feePpm] }
}

function weighted(sample: PoolDraw): Pool {
  const first = oneOf([50n, 80n, 20n], sample.draw)
  const ratio = Number(100n - first) / Number(first)
  return {
    ...base(sample),
    kind: 'balancer-weighted',
    vault: 'v2',
    balances: [units(sample.value), units(sample.value * sample.price * ratio)],
    scales: sample.tokens.map(() => ({ factor: 1n, rate: 10n ** 18n })),
    weights: [first * 10n ** 16n, (100n - first) * 10n ** 16n],
    swapFee: 3n * 10n ** 15n,
    aggregateFee: 0n,
    shortcuts: true,
  }
}

/**
 * A stable pool whose token rate equals the price, as for a token and its liquid staking token. Balances differ by at most 0.1 % from
 * parity.
 */
function stable(sample: PoolDraw): Pool {
  const balanceOf = (times: number) => units(sample.value * times * (1 + (sample.draw() - 0.5) / 500))
  const balances = [balanceOf(1), balanceOf(sample.price)] as const
  const rate = BigInt(Math.round(1e18 / sample.price))
  const amp = oneOf([50n, 200n, 1_000n], sample.draw)
  const kind = sample.draw()
  if (kind < 0.3)
    return {
      ...{ ...base(sample), kind: 'curve-stable', invariant: 'at-once', balances, amp: amp * 100n, ampPrecision: 100n },
      ...{ rates: [10n ** 18n, rate], fee: 4_000_000n, adminFee: 5n * 10n ** 9n, offPegFee: 5n * 10n ** 10n },
    }
  if (kind < 0.6)
    return {
      ...{ ...base(sample), kind: 'balancer-stable', vault: 'v2', rounding: 'down', balances, amp: amp * 1_000n },
      ...{
        scales: [10n ** 18n, rate].map((one) => ({ factor: 1n, rate: one })),
        swapFee: 4n * 10n ** 14n,
        aggregateFee: 0n,
      },
    }
  const tokenUnits = [10n ** 18n, BigInt(Math.round(1e18 * sample.price))] as const
  const isStable = kind < 0.8
  return {
    ...base(sample),
    kind: 'solidly',
    stable: isStable,
    newton: 'v2',
    reserves: balances,
    units: tokenUnits,
    feePpm: isStable ? 500 : 3_000,
  }
}

/** 31 bins around the price; the active bin has both tokens. */
function liquidityBook(sample: PoolDraw): Pool {
  const binStep = oneOf([5, 10, 20], sample.draw)
  const activeId = 2 ** 23 + Math.round(Math.log(sample.price) / Math.log(1 + binStep / 1e4))
  const bins = Array.from({ length: 31 }, (_, index) => {
    const [x, y] = [0, 1].map(() => sample.draw() / 15)
    const [below, above] = [index <= 15, index >= 15]
    const reserves = [
      above ? units(sample.value * (x ?? 0)) : 0n,
      below ? units(sample.value * sample.price * (y ?? 0)) : 0n,
    ]
    return { id: activeId - 15 + index, reserves: [reserves[0] ?? 0n, reserves[1] ?? 0n] as const }
  })
  return {
    ...{ ...base(sample), kind: 'liquidity-book', bins, activeId, binStep, now: 1_000_000 },
    fees: {
      ...{ baseFactor: 10_000n, filterPeriod: 30, decayPeriod: 600, reductionFactor: 5_000n, variableFeeControl: 0n },
      ...{ protocolShare: 1_000n, maxVolatilityAccumulator: 150_000n },
    },
    volatility: { accumulator: 0n, reference: 0n, idReference: activeId, lastUpdate: 999_000 },
  }
}

/** variableFeeControl by bin step, as in the presets of LFJ's factory. */
const CONTROLS: Readonly<Record<number, bigint>> = { 5: 120_000n, 10: 40_000n, 20: 20_000n }

/** After recent trades: the fee increases with each bin away from the active one. */
function variableFeeBook(sample: PoolDraw): Pool {
  const pool = liquidityBook(sample)
  if (pool.kind !== 'liquidity-book') return pool
  const variableFeeControl = CONTROLS[pool.binStep] ?? 0n
  return {
    ...pool,
    fees: { ...pool.fees, baseFactor: 5_000n, variableFeeControl },
    // Between the filter period and the decay period.
    volatility: { ...pool.volatility, accumulator: 60_000n, reference: 30_000n, lastUpdate: pool.now - 100 },
  }
}

export type Kinds = Readonly<{
  makers: readonly [(sample: PoolDraw) => Pool, ...((sample: PoolDraw) => Pool)[]]
  /** Of the amounts in their pools. */
  units: Units
}>

/** Trade sizes in USD. Pools have 10⁴ to 3·10⁶ USD. */
export type TradeSizes = Readonly<{ least: number; most: number }>

/** `usd`: the price of a whole unit of each token. */
export type RandomMarket = Readonly<{ pools: readonly Pool[]; request: RouteRequest; usd: readonly number[] }>

const TOKENS = 7
const CONNECTORS = 3

export function drawConnectedMarket(seed: number, kinds: Kinds, { least, most }: TradeSizes): RandomMarket {
  const draw = createDraws(seed)
  const usd = Array.from({ length: TOKENS }, () => Math.exp(draw() * 9 - 2))
  const pools = Array.from({ length: 8 + Math.floor(draw() * 30) }, (_, index) => {
    const connector = Math.floor(draw() * CONNECTORS)
    const other = (connector + 1 + Math.floor(draw() * (TOKENS - 1))) % TOKENS
    const worth = (token: number) => usd[token] ?? 1
    const value = (1e4 * 300 ** draw()) / worth(connector)
    const price = worth(connector) / worth(other)
    return oneOf(
      kinds.makers,
      draw,
    )({ id: String(index), tokens: [String(connector), String(other)], price, value, draw })
  })
  const source = Math.floor(draw() * TOKENS)
  const target = (source + 1 + Math.floor(draw() * (TOKENS - 1))) % TOKENS
  const amountIn = kinds.units((least * (most / least) ** draw()) / (usd[source] ?? 1))
  return { pools, request: { source: String(source), target: String(target), amountIn }, usd }
}

type Link = readonly [number, number]

/** The pools of a chain from one token to another over `length - 1` new tokens, numbered from `next` on. */
const chain = (from: number, to: number, length: number, next: number): Link[] =>
  Array.from({ length }, (_, hop) => [hop === 0 ? from : next + hop - 1, hop === length - 1 ? to : next + hop])

/** Disjoint chains from token 0 to token 1. */
function chains(lengths: readonly number[]): Link[] {
  let next = 2
  return lengths.flatMap((length) => {
    const links = chain(0, 1, length, next)
    next += length - 1
    return links
  })
}

const everyPair = (tokens: readonly number[]): Link[] =>
  tokens.flatMap((a, index) => tokens.slice(index + 1).map((b): Link => [a, b]))

/** Pools by shape. Trades go from token 0 to token 1. */
export const shapes: Readonly<Record<string, (draw: () => number) => readonly Link[]>> = {
  chains: (draw) => chains([1, ...Array.from({ length: 5 }, () => 2 + Math.floor(draw() * 3))]),
  'deep chains': () => chains([4, 4, 4, 4, 4, 4]),
  ring: (draw) => chains([3 + Math.floor(draw() * 2), 4]),
  star: (draw) => [
    ...Array.from({ length: 7 }, (_, leaf): Link => [2, leaf < 2 ? leaf : leaf + 1]),
    ...Array.from({ length: 4 }, (): Link => [Math.floor(draw() * 2), 3 + Math.floor(draw() * 5)]),
  ],
  // Three rows of three tokens; 0 and 1 are opposite corners.
  grid: () => {
    const at = (row: number, column: number) => [0, 2, 3, 4, 5, 6, 7, 8, 1][3 * row + column] as number
    return [0, 1, 2].flatMap((one) =>
      [0, 1].flatMap((other): Link[] => [
        [at(one, other), at(one, other + 1)],
        [at(other, one), at(other + 1, one)],
      ]),
    )
  },
  islands: () => [...everyPair([0, 2, 3, 4]), ...everyPair([1, 5, 6, 7]), [2, 5], [3, 6]],
}

export const drawShapedMarket = (shape: string, seed: number, kinds: Kinds, sizes: TradeSizes): RandomMarket =>
  drawLinkedMarket(shapes[shape] ?? (() => []), seed, kinds, sizes)

/** One to four pools between each of two tokens and two connector tokens, as on Solana, and up to two between the tokens. */
export const drawTwoHopMarket = (seed: number, kinds: Kinds, sizes: TradeSizes): RandomMarket =>
  drawLinkedMarket(
    (draw) => {
      const pools = (link: Link, least: number, most: number) =>
        Array.from({ length: least + Math.floor(draw() * (1 + most - least)) }, () => link)
      const withConnectors = [2, 3].flatMap((connector) => [
        ...pools([0, connector], 1, 4),
        ...pools([connector, 1], 1, 4),
      ])
      return [...withConnectors, ...pools([0, 1], 0, 2), ...pools([2, 3], 1, 2)]
    },
    seed,
    kinds,
    sizes,
  )

/** Five to seven pools between any of three to five tokens: few enough to try all routes. */
export const drawSmallMarket = (seed: number, kinds: Kinds, sizes: TradeSizes): RandomMarket =>
  drawLinkedMarket(
    (draw) => {
      const tokens = 3 + Math.floor(draw() * 3)
      return Array.from({ length: 5 + Math.floor(draw() * 3) }, (): Link => {
        const token = Math.floor(draw() * tokens)
        return [token, (token + 1 + Math.floor(draw() * (tokens - 1))) % tokens]
      })
    },
    seed,
    kinds,
    sizes,
  )

function drawLinkedMarket(
  link: (draw: () => number) => readonly Link[],
  seed: number,
  kinds: Kinds,
  { least, most }: TradeSizes,
): RandomMarket {
  const draw = createDraws(seed)
  const links = link(draw)
  const usd = Array.from({ length: 2 + Math.max(...links.flat()) }, () => Math.exp(draw() * 9 - 2))
  const worth = (token: number) => usd[token] ?? 1
  const pools = links.map(([a, b], index) =>
    oneOf(
      kinds.makers,
      draw,
    )({
      ...{ id: String(index), tokens: [String(a), String(b)], draw, price: worth(a) / worth(b) },
      value: (1e5 * 10 ** draw()) / worth(a),
    }),
  )
  const amountIn = kinds.units((least * (most / least) ** draw()) / worth(0))
  return { pools, request: { source: '0', target: '1', amountIn }, usd }
}

const DUST_SHARE = 1 / 3

/** Adds constant products of so many dollars, at the prices of the market, between a third of all pairs of tokens. */
export function addDust(market: RandomMarket, seed: number, dollars: number): RandomMarket {
  const draw = createDraws(seed)
  const { usd } = market
  const unitsOf = (token: number) => BigInt(Math.floor((dollars / (usd[token] ?? 1)) * 1e18))
  const tokens = [...usd.keys()].filter((token) => market.pools.some((pool) => pool.tokens.includes(String(token))))
  const dust = everyPair(tokens).flatMap(([a, b]): readonly Pool[] => {
    if (draw() > DUST_SHARE) return []
    const id = `dust ${a} ${b}`
    const identity = { id, address: id, dex: 'random', tokens: [String(a), String(b)] }
    return [{ ...identity, kind: 'uniswap-v2', reserves: [unitsOf(a), unitsOf(b)], feePpm: 500 }]
  })
  return { ...market, pools: [...market.pools, ...dust] }
}

const withUnits = (unitsOf: Units, kinds: Readonly<Record<string, Kinds['makers']>>): Readonly<Record<string, Kinds>> =>
  Object.fromEntries(Object.entries(kinds).map(([name, makers]) => [name, { makers, units: unitsOf }]))

/** The makers of pools by name. */
export const kindsOf: Readonly<Record<string, Kinds>> = {
  ...withUnits(units, {
    'constant product': [constantProduct],
    concentrated: [concentrated],
    weighted: [weighted],
    'three kinds': [constantProduct, concentrated, weighted],
    stable: [stable],
    'liquidity book': [liquidityBook],
    'variable-fee book': [variableFeeBook],
    'every kind': [constantProduct, concentrated, weighted, stable, liquidityBook],
  }),
  ...withUnits(smallUnits, {
    'Raydium CPMM': [raydiumCpmm],
    'Raydium CLMM': [raydiumClmm],
    'Raydium AMM v4': [raydiumAmmV4],
    'Meteora DLMM': [meteoraDlmm],
    'Meteora DAMM v2': [meteoraDammV2],
    PumpSwap: [pumpSwap],
    Solana: [raydiumCpmm, raydiumClmm, raydiumAmmV4, meteoraDlmm, meteoraDammV2, pumpSwap],
    Cetus: [cetus],
    Turbos: [turbos],
    DeepBook: [deepbook],
    Sui: [cetus, turbos, deepbook],
  }),
}
