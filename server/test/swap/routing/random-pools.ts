import { CLMM_TICK_MAX } from '@swapyard/lib/pools/solana/raydium-clmm-tick.ts'
import { FILLS_MAX } from '@swapyard/lib/pools/sui/deepbook-matching.ts'
import fc from 'fast-check'
import type { Pool, PoolKind } from '../../../src/swap/routing/pool-kinds.ts'
import type { Concentrated } from '../../../src/swap/routing/pools/concentrated.ts'
import { type RaydiumClmmRoutePool, ticksOf } from '../../../src/swap/routing/pools/solana/raydium-clmm.ts'
import { sqrtPriceAtTick } from '../../../src/swap/routing/pools/tick-math.ts'
import { clmmStateOf, dammStateOf, dlmmStateOf, emptyBin } from './solana-pool-states.ts'

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

/** Of positions within the two tick arrays on each side that the server reads, and beyond. */
const raydiumClmm = fc
  .record({
    pool: positionedPools([10, 60], { tickMax: 443_636, fullRangeBits: [36, 44], positionBits: [30, 46] }),
    feePpm: fc.constantFrom(100, 500, 2_500, 10_000),
    transferFees: fc.tuple(transferFee, transferFee),
  })
  .map(({ pool, feePpm: fee, transferFees }) => {
    const { sqrtPrice, ...concentratedState } = concentratedOf(pool)
    const { state, ...rest } = clmmStateOf({ ...concentratedState, sqrtPrice: sqrtPrice >> 32n }, fee)
    return { ...solanaIdentity, ...rest, state: { ...state, transferFees } }
  })

const dlmmBin = fc.record({
  gap: fc.integer({ min: 1, max: 9 }),
  amounts: fc.tuple(magnitude(28, 45), magnitude(28, 45)),
  orders: magnitude(0, 45),
  hasOrders: fc.boolean(),
  isAskSide: fc.boolean(),
})
const meteoraDlmm = fc
  .record({
    bins: fc.array(dlmmBin, { minLength: 1, maxLength: 30 }),
    at: fc.integer({ min: -2_000, max: 2_000 }),
    active: fc.nat(29),
    preset: fc.constantFrom(
      { binStep: 1, baseFactor: 20_000, variableFeeControl: 500_000 },
      { binStep: 10, baseFactor: 10_000, variableFeeControl: 40_000 },
      { binStep: 80, baseFactor: 2_500, variableFeeControl: 7_500 },
    ),
    accumulator: fc.nat(150_000),
    distance: fc.integer({ min: -20, max: 20 }),
    elapsedS: fc.bigInt({ min: 0n, max: 1_000n }),
    hasLimitOrders: fc.boolean(),
    hasFeesInY: fc.boolean(),
    transferFees: fc.tuple(transferFee, transferFee),
  })
  .map(({ bins: fields, at, active, preset, accumulator, distance, elapsedS, transferFees, ...flags }) => {
    let id = at
    const placed = fields.map((field) => {
      id += field.gap
      return { ...field, id }
    })
    const activeId = placed[active % placed.length]?.id ?? at
    // Bins below the active one have only Y, bins above it only X.
    const filled = placed.map(({ id: bin, amounts, orders, hasOrders, isAskSide }) => ({
      ...{ ...emptyBin, id: bin },
      amounts: [bin < activeId ? 0n : amounts[0], bin > activeId ? 0n : amounts[1]] as const,
      openOrders: hasOrders ? orders : 0n,
      isAskSide: bin > activeId || (bin === activeId && isAskSide),
    }))
    const unixTime = 1_800_000_000n
    const pair = {
      ...{ ...preset, ...flags, activeId, isEnabled: true, activation: null, protocolFees: [0n, 0n] as const },
      ...{ baseFeePowerFactor: 0, maxVolatilityAccumulator: 350_000, filterPeriod: 30, decayPeriod: 600 },
      ...{ reductionFactor: 5_000, protocolShare: 1_000 },
      volatility: {
        ...{ accumulator, reference: Math.floor(accumulator / 2), indexReference: activeId + distance },
        lastUpdate: unixTime - elapsedS,
      },
    }
    const { state, ...rest } = dlmmStateOf(pair, filled)
    return { ...solanaIdentity, ...rest, unixTime, slot: 1n, state: { ...state, transferFees } }
  })

/** Without a fee that follows the price: a trade may lower the fee of the next one. Pools whose fee follows the amount are not read. */
const meteoraDammV2 = fc
  .record({
    /** From 2^-4 to 2^5. */
    sqrtPrice: magnitude(60, 68),
    liquidity: magnitude(40, 50),
    width: fc.constantFrom(null, 0.02, 0.2, 2),
    feeMode: fc.constantFrom('output' as const, 'b' as const, 'compounding' as const),
    compoundingBps: fc.bigInt(0n, 10_000n),
    cliff: fc.bigInt(1n, 500n),
    isExponential: fc.boolean(),
    frequency: fc.constantFrom(0n, 60n, 3_600n),
    accumulator: fc.bigInt(0n, 14_000_000n),
    hasVariableFee: fc.boolean(),
    elapsedS: fc.bigInt(0n, 200n),
    transferFees: fc.tuple(transferFee, transferFee),
  })
  .map(({ cliff, isExponential, frequency, accumulator, hasVariableFee, elapsedS, transferFees, ...terms }) => {
    const unixTime = 20_000n
    const { state, ...rest } = dammStateOf({
      ...terms,
      baseFee: {
        ...{ kind: 'time', cliff: cliff * 100_000n, isExponential, periods: 100n, frequency },
        reduction: isExponential ? 100n : cliff * 900n,
      },
      dynamicFee: hasVariableFee
        ? {
            ...{ accumulatorMax: 14_460_000n, variableFeeControl: 7_000n, binStep: 1n, filterPeriod: 10n },
            ...{ binStepRatio: 1_844_674_407_370_955n, decayPeriod: 120n, reductionFactor: 5_000n },
          }
        : null,
      volatility: {
        ...{ accumulator, reference: accumulator / 2n, sqrtPriceReference: terms.sqrtPrice },
        lastUpdate: unixTime - elapsedS,
      },
    })
    return { ...solanaIdentity, ...rest, unixTime, slot: 1n, state: { ...state, transferFees } }
  })

const turbos = fc
  .record({
    pool: positionedPools([1, 10, 60, 200], { tickMax: 443_636, fullRangeBits: [30, 40], positionBits: [24, 44] }),
    feeRate: fc.constantFrom(100n, 500n, 3_000n, 10_000n),
  })
  .map(({ pool, feeRate }) => {
    const { sqrtPrice, ...state } = concentratedOf(pool)
    return {
      ...{ ...identity, ...state, kind: 'turbos' as const, tokens: pair, sqrtPrice: sqrtPrice >> 32n },
      ...{ package: '0x7b', config: '0x7c', feeType: '0x7b::fee::FEE', feeRate, protocolFeeRate: 200_000n },
      ...({ feeGrowth: [0n, 0n], protocolFees: [0n, 0n] } as const),
    }
  })

const orders = fc.array(
  fc.record({
    step: fc.bigInt(0n, 2_000n),
    lots: fc.tuple(magnitude(16, 20), magnitude(16, 20)),
    isExpired: fc.constantFrom(false, false, true),
  }),
  { minLength: 1, maxLength: 120 },
)
/** Books whose prices differ by up to 0.2 % from order to order, and more orders than one swap matches. */
const deepbook = fc
  .record({
    both: orders,
    middle: magnitude(27, 37),
    leastLots: fc.constantFrom(1n, 10n),
    takerFee: fc.constantFrom(0n, 100_000n, 1_000_000n),
    lotSize: fc.constantFrom(1_000n, 100_000n),
  })
  .map(({ both, middle, leastLots, takerFee, lotSize }) => {
    const nowMs = 1_800_000_000_000n
    const sideOf = (direction: 1n | -1n) => {
      let price = middle
      return both.map(({ step, lots, isExpired }) => {
        price += (direction * (price * step)) / 1_000_000n + direction
        return {
          price,
          remaining: lots[direction === 1n ? 0 : 1] * lotSize,
          expiresAtMs: isExpired ? nowMs - 1n : nowMs + 1n,
        }
      })
    }
    return {
      ...{ ...identity, kind: 'deepbook' as const, tokens: pair, package: '0xdb', feeCoin: '0xde::deep::DEEP' },
      ...{ objectVersion: 1n, takerFee, stakeRequired: 10n ** 18n, gasPricePenalty: 0n, isWhitelisted: false },
      ...{ deepPrice: null, nowMs, lotSize, minSize: leastLots * lotSize },
      ...{ bids: sideOf(-1n), asks: sideOf(1n) },
    }
  })

export const randomPools: Readonly<{ [K in PoolKind]: fc.Arbitrary<Extract<Pool, { kind: K }>> }> = {
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
  'raydium-amm-v4': raydiumAmmV4,
  'pump-swap': pumpSwap,
  'raydium-clmm': raydiumClmm,
  'meteora-dlmm': meteoraDlmm,
  'meteora-damm-v2': meteoraDammV2,
  turbos,
  deepbook,
}

/** Binary decimals of the root of the price: Q64.64 on Sui and Solana, Q64.96 on EVM networks. */
const sqrtPriceBits = ({ kind }: Pool): number =>
  kind === 'cetus' || kind === 'turbos' || kind === 'raydium-clmm' ? 64 : 96

export type Positions = Readonly<{
  /** The root of the price. */
  root: number
  sqrtPrice: bigint
  bits: bigint
  liquidity: bigint
  ticks: readonly Readonly<{ index: number; net: bigint }>[]
}>

/** Of the ticks that the server reads. The liquidity beyond them counts as one position over all prices. */
function clmmPositions(pool: RaydiumClmmRoutePool) {
  const { state } = pool.state
  const read = ticksOf(pool)
  const sumOf = (ticks: typeof read) => ticks.reduce((sum, { net }) => sum + net, 0n)
  const beyond = state.liquidity - sumOf(read.filter(({ index }) => index <= state.tickCurrent))
  const ends = [
    { index: -CLMM_TICK_MAX, net: beyond },
    { index: CLMM_TICK_MAX, net: -beyond - sumOf(read) },
  ] as const
  return { ...state, ticks: [ends[0], ...read, ends[1]] }
}

/** Null for a pool without ticks. */
export function positionsOf(pool: Pool): Positions | null {
  const bits = sqrtPriceBits(pool)
  const fields = pool.kind === 'raydium-clmm' ? clmmPositions(pool) : pool
  if (!('ticks' in fields)) return null
  const { sqrtPrice, liquidity, ticks } = fields
  return { root: Number(sqrtPrice) / 2 ** bits, sqrtPrice, bits: BigInt(bits), liquidity, ticks }
}

/** Approximate balance of a token in the pool. */
export function holdingOf(pool: Pool, token: number): bigint {
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, units) => total + units, 0n)
  if ('reserves' in pool) return pool.reserves[token] ?? 0n
  if ('balances' in pool) return pool.balances[token] ?? 0n
  if (pool.kind === 'deepbook') {
    // What one swap can match.
    const open = (token === 0 ? pool.asks : pool.bids)
      .slice(0, FILLS_MAX)
      .filter((one) => one.expiresAtMs >= pool.nowMs)
    return sum(open.map(({ price, remaining }) => (token === 0 ? remaining : (remaining * price) / 10n ** 9n)))
  }
  if (pool.kind === 'meteora-dlmm') return pool.state.reserves[token === 0 ? 0 : 1]
  if (pool.kind === 'meteora-damm-v2') return pool.state.vaults[token === 0 ? 0 : 1]
  if ('bins' in pool) return sum(pool.bins.map(({ reserves }) => reserves[token] ?? 0n))
  // Virtual reserves: as if the current liquidity covered all prices.
  const positions = positionsOf(pool)
  if (positions === null) throw new Error(`no balances of the kind ${pool.kind}`)
  const { sqrtPrice, liquidity, bits } = positions
  return token === 0 ? (liquidity << bits) / sqrtPrice : (liquidity * sqrtPrice) >> bits
}
