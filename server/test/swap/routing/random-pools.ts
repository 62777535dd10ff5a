import { absolute } from '@swapyard/lib/bigint.ts'
import { DLMM_BINS_PER_ARRAY, dlmmArrayIndex } from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { dlmmPrice } from '@swapyard/lib/pools/solana/meteora-dlmm-bin.ts'
import { clmmArrayStart, isInPoolBitmap } from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import { clmmSqrtPriceAtTick } from '@swapyard/lib/pools/solana/raydium-clmm-tick.ts'
import { DEEPBOOK_SCALE } from '@swapyard/lib/pools/sui/deepbook-math.ts'
import { sqrtPriceAtTick as q64SqrtPriceAtTick } from '@swapyard/lib/pools/sui/q64-tick.ts'
import type { TokenPair } from '@swapyard/lib/pools/token-pair.ts'
import fc from 'fast-check'
import type { Pool, PoolKind } from '../../../src/swap/routing/pool-kinds.ts'
import type { Concentrated } from '../../../src/swap/routing/pools/concentrated.ts'
import { ticksOf } from '../../../src/swap/routing/pools/solana/raydium-clmm.ts'
import { sqrtPriceAtTick } from '../../../src/swap/routing/pools/tick-math.ts'

/* fast-check arbitraries of pools of every kind. */

const ONE = 10n ** 18n
const identity = { id: 'random', address: '0x0', dex: 'random' }
const pair = ['0xa', '0xb'] as const

/** Integers whose bit length is uniformly distributed. */
export const magnitude = (minBits: number, maxBits: number): fc.Arbitrary<bigint> =>
  fc
    .integer({ min: minBits, max: maxBits })
    .chain((bits) => fc.bigInt({ min: 1n << BigInt(bits), max: (1n << BigInt(bits + 1)) - 1n }))

const feePpm = fc.constantFrom(0, 1, 100, 400, 500, 2_500, 3_000, 10_000, 30_000)
/** In parts of 10^18. */
const swapFee = fc.bigInt({ min: 10n ** 12n, max: 10n ** 17n })
const decimals = fc.constantFrom(6, 8, 18)

export type PositionedPool = Readonly<{
  sqrtPrice: bigint
  tick: number
  tickSpacing: number
  positions: readonly Readonly<{ lower: number; upper: number; liquidity: bigint }>[]
}>

type Extent = Readonly<{
  /** Of a full-range position. */
  tickMax: number
  /** Least and most bits of the liquidity. */
  fullRangeBits: readonly [number, number]
  positionBits: readonly [number, number]
}>
const evmExtent: Extent = { tickMax: 880_000, fullRangeBits: [60, 90], positionBits: [50, 95] }

/** A full-range position and up to six positions around the price. */
export const positionedPools = (
  spacings: readonly number[] = [1, 10, 60, 200],
  { tickMax, fullRangeBits, positionBits }: Extent = evmExtent,
): fc.Arbitrary<PositionedPool> =>
  fc
    .record({
      tickSpacing: fc.constantFrom(...spacings),
      tick: fc.integer({ min: -150_000, max: 150_000 }),
      tickFraction: fc.nat(999_999),
      fullRangeLiquidity: magnitude(...fullRangeBits),
      similarBalances: fc.array(
        fc.record({
          below: fc.integer({ min: -40, max: 400 }),
          width: fc.integer({ min: 1, max: 600 }),
          liquidity: magnitude(...positionBits),
        }),
        { maxLength: 6 },
      ),
    })
    .map(({ tickSpacing, tick, tickFraction, fullRangeLiquidity, similarBalances }) => {
      const position = Math.floor(tick / tickSpacing)
      const outer = Math.floor(tickMax / tickSpacing)
      const positions = [
        { lower: -outer, upper: outer, liquidity: fullRangeLiquidity },
        ...similarBalances.map(({ below, width, liquidity }) => ({
          lower: position - below,
          upper: position - below + width,
          liquidity,
        })),
      ].map(({ lower, upper, liquidity }) => ({ lower: lower * tickSpacing, upper: upper * tickSpacing, liquidity }))
      const low = sqrtPriceAtTick(tick)
      const sqrtPrice = low + ((sqrtPriceAtTick(tick + 1) - low) * BigInt(tickFraction)) / 1_000_000n
      return { sqrtPrice, tick, tickSpacing, positions }
    })

export function concentratedOf({ sqrtPrice, tick, tickSpacing, positions }: PositionedPool): Concentrated {
  const nets = new Map<number, bigint>()
  let active = 0n
  for (const { lower, upper, liquidity } of positions) {
    nets.set(lower, (nets.get(lower) ?? 0n) + liquidity)
    nets.set(upper, (nets.get(upper) ?? 0n) - liquidity)
    if (lower <= tick && tick < upper) active += liquidity
  }
  const ticks = [...nets].map(([index, net]) => ({ index, net })).sort((a, b) => a.index - b.index)
  return { sqrtPrice, tick, liquidity: active, tickSpacing, ticks }
}

const concentrated = positionedPools().map(concentratedOf)

const uniswapV2 = fc.record({ reserve0: magnitude(20, 110), reserve1: magnitude(20, 110), feePpm }).map((fields) => ({
  ...identity,
  kind: 'uniswap-v2' as const,
  tokens: pair,
  feePpm: fields.feePpm,
  reserves: [fields.reserve0, fields.reserve1] as const,
}))

const uniswapV3 = fc
  .record({ pool: concentrated, feePpm })
  .map((fields) => ({ ...identity, ...fields.pool, kind: 'uniswap-v3' as const, tokens: pair, feePpm: fields.feePpm }))

const uniswapV4 = fc
  .record({
    pool: concentrated,
    lpFeePpm: fc.integer({ min: 0, max: 100_000 }),
    protocol: fc.integer({ min: 0, max: 1_000 }),
  })
  .map(({ pool, lpFeePpm, protocol }) => ({
    ...identity,
    ...pool,
    kind: 'uniswap-v4' as const,
    tokens: pair,
    lpFeePpm,
    protocolFeePpm: [protocol, 1_000 - protocol] as const,
  }))

const algebra = fc
  .record({
    pool: concentrated,
    zeroIn: feePpm,
    oneIn: feePpm,
    ticksBy: fc.constantFrom('words' as const, 'list' as const),
  })
  .map(({ pool, zeroIn, oneIn, ticksBy }) => ({
    ...identity,
    ...pool,
    kind: 'algebra' as const,
    tokens: pair,
    ticksBy,
    feePpm: [zeroIn, oneIn] as const,
  }))

/** Balances of two to four tokens, scaled to their decimals; the largest is at most 31 times the smallest. */
export const similarBalances = fc
  .record({
    size: magnitude(3, 30),
    tokens: fc.array(fc.record({ decimals, parts: fc.bigInt({ min: 33n, max: 1_000n }) }), {
      minLength: 2,
      maxLength: 4,
    }),
  })
  .map(({ size, tokens }) =>
    tokens.map((position) => ({
      decimals: position.decimals,
      balance: (size * position.parts * 10n ** BigInt(position.decimals)) / 33n,
    })),
  )

const solidly = fc
  .record({
    stable: fc.boolean(),
    newton: fc.constantFrom('v1' as const, 'v2' as const),
    holdings: similarBalances,
    feePpm,
  })
  .map(({ stable, newton, holdings, feePpm: fee }) => {
    const [a, b] = holdings
    if (a === undefined || b === undefined) throw new Error('fast-check returned fewer than two balances')
    return {
      ...identity,
      kind: 'solidly' as const,
      tokens: pair,
      stable,
      newton,
      reserves: [a.balance, b.balance] as const,
      units: [10n ** BigInt(a.decimals), 10n ** BigInt(b.decimals)] as const,
      feePpm: fee,
    }
  })

const names = (holdings: readonly unknown[]) => holdings.map((_, index) => `0x${index + 1}`)
const rate = fc.bigInt({ min: (ONE * 9n) / 10n, max: 2n * ONE })

const curveStable = fc
  .record({
    holdings: similarBalances,
    amp: fc.bigInt({ min: 2n, max: 5_000n }),
    precise: fc.boolean(),
    fee: fc.bigInt({ min: 0n, max: 10n ** 8n }),
    offPeg: fc.option(fc.bigInt({ min: 10n ** 10n, max: 20n * 10n ** 10n })),
    rates: fc.tuple(rate, rate, rate, rate),
  })
  .map(({ holdings, amp, precise, fee, offPeg, rates }) => ({
    ...identity,
    kind: 'curve-stable' as const,
    tokens: names(holdings),
    balances: holdings.map(({ balance }) => balance),
    rates: holdings.map((token, index) => 10n ** BigInt(18 - token.decimals) * (rates[index] ?? ONE)),
    amp: precise ? amp * 100n : amp,
    ampPrecision: precise ? 100n : 1n,
    fee,
    adminFee: 5n * 10n ** 9n,
    offPegFee: offPeg,
    invariant: offPeg === null ? ('stepwise' as const) : ('at-once' as const),
  }))

const scalesOf = (holdings: readonly { decimals: number }[], rates: readonly bigint[]) =>
  holdings.map((token, index) => ({ factor: 10n ** BigInt(18 - token.decimals), rate: rates[index] ?? ONE }))

const balancerStable = fc
  .record({
    holdings: similarBalances,
    amp: fc.bigInt({ min: 1n, max: 5_000n }),
    rounding: fc.constantFrom('up' as const, 'down' as const, 'v3' as const),
    swapFee,
    rates: fc.tuple(rate, rate, rate, rate),
  })
  .map(({ holdings, amp, rounding, swapFee: fee, rates }) => ({
    ...identity,
    kind: 'balancer-stable' as const,
    tokens: names(holdings),
    vault: rounding === 'v3' ? ('v3' as const) : ('v2' as const),
    rounding,
    balances: holdings.map(({ balance }) => balance),
    scales: scalesOf(holdings, rates),
    amp: amp * 1_000n,
    swapFee: fee,
    aggregateFee: rounding === 'v3' ? ONE / 2n : 0n,
  }))

const balancerWeighted = fc
  .record({
    holdings: similarBalances,
    percent: fc.integer({ min: 1, max: 99 }),
    isV3: fc.boolean(),
    shortcuts: fc.boolean(),
    swapFee,
  })
  .map(({ holdings, percent, isV3, shortcuts, swapFee: fee }) => ({
    ...identity,
    kind: 'balancer-weighted' as const,
    tokens: names(holdings.slice(0, 2)),
    vault: isV3 ? ('v3' as const) : ('v2' as const),
    balances: holdings.slice(0, 2).map(({ balance }) => balance),
    scales: scalesOf(holdings.slice(0, 2), []),
    weights: [BigInt(percent) * 10n ** 16n, BigInt(100 - percent) * 10n ** 16n],
    swapFee: fee,
    aggregateFee: isV3 ? ONE / 2n : 0n,
    shortcuts: isV3 || shortcuts,
  }))

/** variableFeeControl by bin step, as in the presets of LFJ's factory. */
const CONTROLS: Readonly<Record<number, bigint>> = {
  1: 500_000n,
  5: 120_000n,
  10: 40_000n,
  20: 20_000n,
  50: 8_000n,
  100: 7_500n,
}

const bins = fc.array(
  fc.record({ gap: fc.integer({ min: 1, max: 3 }), x: magnitude(20, 100), y: magnitude(20, 100) }),
  { minLength: 1, maxLength: 25 },
)
const liquidityBook = fc
  .record({
    bins,
    at: fc.integer({ min: -500, max: 500 }),
    binStep: fc.constantFrom(1, 5, 10, 20, 50, 100),
    active: fc.nat(24),
    accumulator: fc.bigInt({ min: 0n, max: 150_000n }),
    distance: fc.integer({ min: -20, max: 20 }),
    elapsedS: fc.integer({ min: 0, max: 1_000 }),
  })
  .map(({ bins: fields, at, binStep, active, accumulator, distance, elapsedS }) => {
    let id = 2 ** 23 + at
    const position = active % fields.length
    const all = fields.map(({ gap, x, y }, index) => {
      id += gap
      // Bins below the active one have only token 1, bins above it only token 0.
      return { id, reserves: [index < position ? 0n : x, index > position ? 0n : y] as const }
    })
    const activeId = all[position]?.id ?? id
    return {
      ...identity,
      kind: 'liquidity-book' as const,
      tokens: pair,
      bins: all,
      activeId,
      binStep,
      fees: {
        baseFactor: 5_000n,
        filterPeriod: 30,
        decayPeriod: 600,
        reductionFactor: 5_000n,
        variableFeeControl: CONTROLS[binStep] ?? 0n,
        protocolShare: 1_000n,
        maxVolatilityAccumulator: 150_000n,
      },
      volatility: { accumulator, reference: accumulator / 2n, idReference: activeId + distance, lastUpdate: 1_000_000 },
      now: 1_000_000 + elapsedS,
    }
  })

const transferFee = fc.option(fc.record({ basisPoints: fc.bigInt(1n, 500n), maximumFee: fc.constant(10n ** 18n) }), {
  nil: null,
})

const bothReserves = fc.tuple(fc.bigInt(10n ** 9n, 10n ** 17n), fc.bigInt(10n ** 9n, 10n ** 17n))
const solanaIdentity = {
  ...identity,
  tokens: pair,
  programs: ['program', 'program'] as const,
  decimals: [9, 6] as const,
  vaults: ['vault 0', 'vault 1'] as const,
}

/** Also of mints with a transfer fee. */
const raydiumCpmm = fc
  .record({
    vaults: bothReserves,
    tradeFeeRate: fc.constantFrom(100n, 2_500n, 10_000n, 40_000n),
    transferFees: fc.tuple(transferFee, transferFee),
  })
  .map(({ vaults, tradeFeeRate, transferFees }) => ({
    ...solanaIdentity,
    kind: 'raydium-cpmm' as const,
    reserves: vaults,
    config: 'config',
    observation: 'observation',
    state: {
      ...({ status: 0, openTime: 0n, recentEpoch: 0n, vaults, protocolFees: [0n, 0n], fundFees: [0n, 0n] } as const),
      config: { tradeFeeRate, protocolFeeRate: 120_000n, fundFeeRate: 40_000n },
      ...({ isToken2022: [true, true], transferFees } as const),
    },
  }))

/** Pools of Sui: their prices are in Q64.64, and they hold at most 64 bits. */
const cetus = fc
  .record({
    pool: positionedPools([2, 10, 60, 200], { tickMax: 443_636, fullRangeBits: [30, 40], positionBits: [24, 44] }),
    feeRate: fc.constantFrom(100n, 500n, 2_500n, 10_000n),
  })
  .map(({ pool, feeRate }) => {
    const { sqrtPrice, ...state } = concentratedOf(pool)
    return {
      ...{ ...identity, ...state, kind: 'cetus' as const, tokens: pair, sqrtPrice: sqrtPrice >> 32n },
      ...{ package: '0xce', config: '0xc0', feeRate, protocolFeeRate: 2_000n },
      ...({ feeGrowth: [0n, 0n], protocolFees: [0n, 0n] } as const),
    }
  })

const raydiumAmmV4 = bothReserves.map((vaults) => ({
  ...solanaIdentity,
  ...{ kind: 'raydium-amm-v4' as const, reserves: vaults },
  state: {
    ...({ status: 6n, openTime: 0n, feeNumerator: 25n, feeDenominator: 10_000n, vaults } as const),
    needTakePnl: [0n, 0n] as const,
  },
}))

/** Without tiers: a trade that changes the market cap may change the fee of the next one. */
const pumpSwap = bothReserves.map((reserves) => ({
  ...solanaIdentity,
  ...{ kind: 'pump-swap' as const, reserves, feeRecipient: 'a', buybackRecipient: 'b', coinCreator: 'c' },
  state: {
    ...{ baseReserve: reserves[0], quoteReserve: reserves[1], baseSupply: 10n ** 15n, isCanonical: false },
    ...{ hasCoinCreator: true, isCashbackCoin: false },
    config: { disableFlags: 0, buybackBps: 5_000n, flatFees: { lp: 25n, protocol: 5n, coinCreator: 1n }, tiers: [] },
  },
}))

/** A price within its tick: of Q64.96, with 32 bits fewer, and as near to the drawn one as the kind's own prices allow. */
function priceInTick({ sqrtPrice, tick }: PositionedPool, priceAt: (tick: number) => bigint): bigint {
  const [low, high] = [priceAt(tick), priceAt(tick + 1)]
  const drawn = sqrtPrice >> 32n
  return drawn < low ? low : drawn >= high ? high - 1n : drawn
}

const q64Extent: Extent = { tickMax: 443_636, fullRangeBits: [30, 40], positionBits: [24, 44] }

const turbos = fc
  .record({
    pool: positionedPools([2, 10, 60, 200], q64Extent),
    feeRate: fc.constantFrom(100n, 500n, 3_000n, 10_000n),
  })
  .map(({ pool, feeRate }) => ({
    ...{ ...identity, ...concentratedOf(pool), kind: 'turbos' as const, tokens: pair },
    ...{ sqrtPrice: priceInTick(pool, q64SqrtPriceAtTick), feeRate, protocolFeeRate: 250_000n },
    ...({
      feeGrowth: [0n, 0n],
      protocolFees: [0n, 0n],
      package: '0x70',
      config: '0x71',
      feeType: '0x70::fee::FEE',
    } as const),
  }))

const raydiumClmm = fc
  .record({
    pool: positionedPools([1, 10, 60, 120], q64Extent),
    tradeFeeRate: fc.constantFrom(100n, 500n, 2_500n, 10_000n),
    transferFees: fc.tuple(transferFee, transferFee),
  })
  .map(({ pool, tradeFeeRate, transferFees }) => {
    const { tick: tickCurrent, tickSpacing, liquidity, ticks } = concentratedOf(pool)
    const starts = [...new Set(ticks.map(({ index }) => clmmArrayStart(index, tickSpacing)))]
    const ticksFrom = (start: number) =>
      ticks
        .filter(({ index, net }) => net !== 0n && clmmArrayStart(index, tickSpacing) === start)
        .map(({ index, net }) => ({
          ...{ tick: index, liquidityNet: net, liquidityGross: absolute(net) },
          feeGrowthBeyond: [0n, 0n] as const,
        }))
    const none = [0n, 0n] as const
    return {
      ...{ ...solanaIdentity, kind: 'raydium-clmm' as const, config: 'config', observation: 'observation' },
      state: {
        config: { tradeFeeRate, protocolFeeRate: 120_000n, fundFeeRate: 40_000n },
        state: {
          ...{ tickSpacing, liquidity, sqrtPrice: priceInTick(pool, clmmSqrtPriceAtTick), tickCurrent },
          ...{ feeGrowthGlobal: none, protocolFees: none, fundFees: none, swapIn: none, swapOut: none },
          ...{ totalFees: none, status: 0, openTime: 0n },
          arrayStarts: starts.filter((start) => isInPoolBitmap(start, tickSpacing)),
        },
        extensionStarts: starts.filter((start) => !isInPoolBitmap(start, tickSpacing)),
        tickArrays: new Map(starts.map((start) => [start, { startTick: start, ticks: ticksFrom(start) }])),
        transferFees,
      },
      extension: 'extension',
      arrays: starts.map((start) => ({ start, address: `array ${start}` })),
    }
  })

const dlmmBins = fc.array(fc.record({ gap: fc.integer({ min: 1, max: 3 }), units: magnitude(20, 45) }), {
  maxLength: 20,
})

/** Without limit orders. The variable fee's reference is in force or has expired: one that decays makes a second swap cheaper. */
const meteoraDlmm = fc
  .record({
    ...{ below: dlmmBins, above: dlmmBins, x: magnitude(20, 45), y: magnitude(20, 45) },
    binStep: fc.constantFrom(5, 10, 20, 50, 100),
    activeId: fc.integer({ min: -500, max: 500 }),
    reference: fc.integer({ min: 0, max: 100_000 }),
    isExpired: fc.boolean(),
    hasFeesInY: fc.boolean(),
    transferFees: fc.tuple(transferFee, transferFee),
  })
  .map(({ below, above, x, y, binStep, activeId, reference, isExpired, hasFeesInY, transferFees }) => {
    const amountsById = new Map([[activeId, [x, y] as TokenPair]])
    const add = (bins: typeof below, direction: 1 | -1) => {
      let id = activeId
      for (const { gap, units } of bins) {
        id += gap * direction
        amountsById.set(id, direction === 1 ? [units, 0n] : [0n, units])
      }
    }
    add(below, -1)
    add(above, 1)
    const indexes = [...new Set([...amountsById.keys()].map(dlmmArrayIndex))].sort((one, other) => one - other)
    const binOf = (binId: number) => ({
      ...{ id: binId, amounts: amountsById.get(binId) ?? ([0n, 0n] as const), price: dlmmPrice(binId, binStep) },
      ...({
        liquiditySupply: 1n << 100n,
        fulfilledOrders: [0n, 0n],
        orderFees: [0n, 0n],
        feeGrowth: [0n, 0n],
      } as const),
      ...{ openOrders: 0n, processingOrders: 0n, processedRest: 0n, orderAge: 0, isAskSide: false },
    })
    const arrayOf = (index: number) => ({
      index,
      bins: Array.from({ length: DLMM_BINS_PER_ARRAY }, (_, place) => binOf(index * DLMM_BINS_PER_ARRAY + place)),
    })
    const sumOf = (token: 0 | 1) => [...amountsById.values()].reduce((sum, amounts) => sum + amounts[token], 0n)
    return {
      ...{ ...solanaIdentity, kind: 'meteora-dlmm' as const, oracle: 'oracle', extension: null },
      ...{ unixTime: 1_000_000n + (isExpired ? 700n : 10n), slot: 1n },
      state: {
        pair: {
          ...{ binStep, activeId, baseFactor: 5_000, baseFeePowerFactor: 0, hasLimitOrders: false, hasFeesInY },
          ...{ variableFeeControl: Number(CONTROLS[binStep]), maxVolatilityAccumulator: 150_000, filterPeriod: 30 },
          ...{ decayPeriod: 600, reductionFactor: 5_000, protocolShare: 1_000, isEnabled: true, activation: null },
          volatility: { accumulator: reference, reference, indexReference: activeId, lastUpdate: 1_000_000n },
          ...{ protocolFees: [0n, 0n] as const, arrayIndexes: indexes },
        },
        ...{ extensionIndexes: [], binArrays: new Map(indexes.map((index) => [index, arrayOf(index)])) },
        ...{ reserves: [sumOf(0), sumOf(1)] as const, transferFees },
      },
      arrays: indexes.map((index) => ({ index, address: `array ${index}` })),
    }
  })

const DEEPBOOK_NOW = 1_000n
/** Orders from the best price on: each is a few parts of 10,000 worse than the one before. */
const bookSide = fc.array(
  fc.record({
    step: fc.bigInt(0n, 50n),
    lots: magnitude(25, 34),
    expiresAtMs: fc.constantFrom(DEEPBOOK_NOW, DEEPBOOK_NOW + 1n, DEEPBOOK_NOW - 1n),
  }),
  { minLength: 1, maxLength: 20 },
)
const deepbook = fc
  .record({
    ...{ bids: bookSide, asks: bookSide, price: magnitude(24, 36), spread: fc.bigInt(1n, 100n) },
    lotSize: fc.constantFrom(1n, 10n, 1_000n),
    takerFee: fc.constantFrom(0n, 100_000n, 1_000_000n),
  })
  .map(({ bids, asks, price, spread, lotSize, takerFee }) => {
    const ordersOf = (side: typeof bids, direction: 1n | -1n) => {
      let parts = 10_000n + direction * spread
      return side.map(({ step, lots, expiresAtMs }) => {
        parts += direction * step
        return { price: (price * parts) / 10_000n, remaining: lots * lotSize, expiresAtMs }
      })
    }
    return {
      ...{ ...identity, kind: 'deepbook' as const, tokens: pair, package: '0xdb', feeCoin: '0xdb::deep::DEEP' },
      ...{ objectVersion: 1n, bids: ordersOf(bids, -1n), asks: ordersOf(asks, 1n), takerFee, lotSize },
      ...{ minSize: lotSize, nowMs: DEEPBOOK_NOW, isWhitelisted: false, deepPrice: null },
      ...{ stakeRequired: 1n, gasPricePenalty: 0n },
    }
  })

/** DAMM v2 is compared with its own package, in test/dexes. */
export type RandomKind = Exclude<PoolKind, 'meteora-damm-v2'>

export const randomPools: Readonly<{ [K in RandomKind]: fc.Arbitrary<Extract<Pool, { kind: K }>> }> = {
  'uniswap-v2': uniswapV2,
  'uniswap-v3': uniswapV3,
  'uniswap-v4': uniswapV4,
  solidly,
  algebra,
  'curve-stable': curveStable,
  'balancer-weighted': balancerWeighted,
  'balancer-stable': balancerStable,
  'liquidity-book': liquidityBook,
  'raydium-cpmm': raydiumCpmm,
  cetus,
  turbos,
  deepbook,
  'raydium-amm-v4': raydiumAmmV4,
  'raydium-clmm': raydiumClmm,
  'meteora-dlmm': meteoraDlmm,
  'pump-swap': pumpSwap,
}

export type TickState = Readonly<{
  sqrtPrice: bigint
  liquidity: bigint
  ticks: readonly Readonly<{ index: number; net: bigint }>[]
  /** Binary decimals of `sqrtPrice`. */
  bits: number
}>

/** The concentrated liquidity of a pool; null of other kinds. */
export function tickStateOf(pool: Pool): TickState | null {
  if (pool.kind === 'raydium-clmm') {
    const { sqrtPrice, liquidity } = pool.state.state
    return { sqrtPrice, liquidity, ticks: ticksOf(pool), bits: 64 }
  }
  if (!('ticks' in pool)) return null
  return { ...pool, bits: pool.kind === 'cetus' || pool.kind === 'turbos' ? 64 : 96 }
}

/** Approximate balance of a token in the pool. */
export function holdingOf(pool: Pool, token: number): bigint {
  if ('reserves' in pool) return pool.reserves[token] ?? 0n
  if ('balances' in pool) return pool.balances[token] ?? 0n
  if (pool.kind === 'meteora-dlmm') {
    const bins = [...pool.state.binArrays.values()].flatMap((array) => array.bins)
    return bins.reduce((sum, { amounts }) => sum + (amounts[token] ?? 0n), 0n)
  }
  if (pool.kind === 'deepbook') {
    if (token === 0) return pool.asks.reduce((sum, { remaining }) => sum + remaining, 0n)
    return pool.bids.reduce((sum, { price, remaining }) => sum + (price * remaining) / DEEPBOOK_SCALE, 0n)
  }
  if ('bins' in pool) return pool.bins.reduce((sum, bin) => sum + (bin.reserves[token] ?? 0n), 0n)
  const state = tickStateOf(pool)
  if (state === null) throw new Error(`no balances of the kind ${pool.kind}`)
  // Virtual reserves: as if the current liquidity covered all prices.
  const { liquidity, sqrtPrice } = state
  const bits = BigInt(state.bits)
  return token === 0 ? (liquidity << bits) / sqrtPrice : (liquidity * sqrtPrice) >> bits
}
