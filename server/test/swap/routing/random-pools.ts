import fc from 'fast-check'
import type { Pool, PoolKind } from '../../../src/swap/routing/pool-kinds.ts'
import type { Concentrated } from '../../../src/swap/routing/pools/concentrated.ts'
import { sqrtPriceAtTick } from '../../../src/swap/routing/pools/tick-math.ts'

/* Random pools of every kind, and trades that fit them. */

const ONE = 10n ** 18n
const base = { id: 'random', address: '0x0', dex: 'random' }
const pair = ['0xa', '0xb'] as const

/** Evenly by magnitude. */
export const magnitude = (minBits: number, maxBits: number): fc.Arbitrary<bigint> =>
  fc
    .integer({ min: minBits, max: maxBits })
    .chain((bits) => fc.bigInt({ min: 1n << BigInt(bits), max: (1n << BigInt(bits + 1)) - 1n }))

const feePpm = fc.constantFrom(0, 1, 100, 400, 500, 2_500, 3_000, 10_000, 30_000)
/** Parts of 10^18. */
const swapFee = fc.bigInt({ min: 10n ** 12n, max: 10n ** 17n })
const decimals = fc.constantFrom(6, 8, 18)

export type Positioned = Readonly<{
  sqrtPrice: bigint
  tick: number
  tickSpacing: number
  positions: readonly Readonly<{ lower: number; upper: number; liquidity: bigint }>[]
}>

/** One wide position and some around the price. */
export const positioned = (spacings: readonly number[] = [1, 10, 60, 200]): fc.Arbitrary<Positioned> =>
  fc
    .record({
      tickSpacing: fc.constantFrom(...spacings),
      tick: fc.integer({ min: -150_000, max: 150_000 }),
      within: fc.nat(999_999),
      wide: magnitude(60, 90),
      near: fc.array(
        fc.record({
          below: fc.integer({ min: -40, max: 400 }),
          width: fc.integer({ min: 1, max: 600 }),
          liquidity: magnitude(50, 95),
        }),
        { maxLength: 6 },
      ),
    })
    .map(({ tickSpacing, tick, within, wide, near }) => {
      const place = Math.floor(tick / tickSpacing)
      const outer = Math.floor(880_000 / tickSpacing)
      const positions = [
        { lower: -outer, upper: outer, liquidity: wide },
        ...near.map(({ below, width, liquidity }) => ({
          lower: place - below,
          upper: place - below + width,
          liquidity,
        })),
      ].map(({ lower, upper, liquidity }) => ({ lower: lower * tickSpacing, upper: upper * tickSpacing, liquidity }))
      const low = sqrtPriceAtTick(tick)
      const sqrtPrice = low + ((sqrtPriceAtTick(tick + 1) - low) * BigInt(within)) / 1_000_000n
      return { sqrtPrice, tick, tickSpacing, positions }
    })

export function concentratedOf({ sqrtPrice, tick, tickSpacing, positions }: Positioned): Concentrated {
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

const concentrated = positioned().map(concentratedOf)

const uniswapV2 = fc.record({ reserve0: magnitude(20, 110), reserve1: magnitude(20, 110), feePpm }).map((drawn) => ({
  ...base,
  kind: 'uniswap-v2' as const,
  tokens: pair,
  feePpm: drawn.feePpm,
  reserves: [drawn.reserve0, drawn.reserve1] as const,
}))

const uniswapV3 = fc
  .record({ pool: concentrated, feePpm })
  .map((drawn) => ({ ...base, ...drawn.pool, kind: 'uniswap-v3' as const, tokens: pair, feePpm: drawn.feePpm }))

const uniswapV4 = fc
  .record({
    pool: concentrated,
    lpFeePpm: fc.integer({ min: 0, max: 100_000 }),
    protocol: fc.integer({ min: 0, max: 1_000 }),
  })
  .map(({ pool, lpFeePpm, protocol }) => ({
    ...base,
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
    ...base,
    ...pool,
    kind: 'algebra' as const,
    tokens: pair,
    ticksBy,
    feePpm: [zeroIn, oneIn] as const,
  }))

/** Balances of tokens that are worth about the same: none less than a 30th of another. */
export const near = fc
  .record({
    size: magnitude(3, 30),
    places: fc.array(fc.record({ decimals, parts: fc.bigInt({ min: 33n, max: 1_000n }) }), {
      minLength: 2,
      maxLength: 4,
    }),
  })
  .map(({ size, places }) =>
    places.map((place) => ({
      decimals: place.decimals,
      balance: (size * place.parts * 10n ** BigInt(place.decimals)) / 33n,
    })),
  )

const solidly = fc
  .record({ stable: fc.boolean(), newton: fc.constantFrom('v1' as const, 'v2' as const), holds: near, feePpm })
  .map(({ stable, newton, holds, feePpm: fee }) => {
    const [a, b] = holds
    if (a === undefined || b === undefined) throw new Error('two are drawn at least')
    return {
      ...base,
      kind: 'solidly' as const,
      tokens: pair,
      stable,
      newton,
      reserves: [a.balance, b.balance] as const,
      units: [10n ** BigInt(a.decimals), 10n ** BigInt(b.decimals)] as const,
      feePpm: fee,
    }
  })

const names = (holds: readonly unknown[]) => holds.map((_, index) => `0x${index + 1}`)
const rate = fc.bigInt({ min: (ONE * 9n) / 10n, max: 2n * ONE })

const curveStable = fc
  .record({
    holds: near,
    amp: fc.bigInt({ min: 2n, max: 5_000n }),
    precise: fc.boolean(),
    fee: fc.bigInt({ min: 0n, max: 10n ** 8n }),
    offPeg: fc.option(fc.bigInt({ min: 10n ** 10n, max: 20n * 10n ** 10n })),
    rates: fc.tuple(rate, rate, rate, rate),
  })
  .map(({ holds, amp, precise, fee, offPeg, rates }) => ({
    ...base,
    kind: 'curve-stable' as const,
    tokens: names(holds),
    balances: holds.map(({ balance }) => balance),
    rates: holds.map((held, index) => 10n ** BigInt(18 - held.decimals) * (rates[index] ?? ONE)),
    amp: precise ? amp * 100n : amp,
    ampPrecision: precise ? 100n : 1n,
    fee,
    adminFee: 5n * 10n ** 9n,
    offPegFee: offPeg,
    invariant: offPeg === null ? ('stepwise' as const) : ('at-once' as const),
  }))

const scalesOf = (holds: readonly { decimals: number }[], rates: readonly bigint[]) =>
  holds.map((held, index) => ({ factor: 10n ** BigInt(18 - held.decimals), rate: rates[index] ?? ONE }))

const balancerStable = fc
  .record({
    holds: near,
    amp: fc.bigInt({ min: 1n, max: 5_000n }),
    rounding: fc.constantFrom('up' as const, 'down' as const, 'v3' as const),
    swapFee,
    rates: fc.tuple(rate, rate, rate, rate),
  })
  .map(({ holds, amp, rounding, swapFee: fee, rates }) => ({
    ...base,
    kind: 'balancer-stable' as const,
    tokens: names(holds),
    vault: rounding === 'v3' ? ('v3' as const) : ('v2' as const),
    rounding,
    balances: holds.map(({ balance }) => balance),
    scales: scalesOf(holds, rates),
    amp: amp * 1_000n,
    swapFee: fee,
    aggregateFee: rounding === 'v3' ? ONE / 2n : 0n,
  }))

const balancerWeighted = fc
  .record({
    holds: near,
    percent: fc.integer({ min: 1, max: 99 }),
    isV3: fc.boolean(),
    shortcuts: fc.boolean(),
    swapFee,
  })
  .map(({ holds, percent, isV3, shortcuts, swapFee: fee }) => ({
    ...base,
    kind: 'balancer-weighted' as const,
    tokens: names(holds.slice(0, 2)),
    vault: isV3 ? ('v3' as const) : ('v2' as const),
    balances: holds.slice(0, 2).map(({ balance }) => balance),
    scales: scalesOf(holds.slice(0, 2), []),
    weights: [BigInt(percent) * 10n ** 16n, BigInt(100 - percent) * 10n ** 16n],
    swapFee: fee,
    aggregateFee: isV3 ? ONE / 2n : 0n,
    shortcuts: isV3 || shortcuts,
  }))

/** By bin step, as LFJ's factory has its presets. */
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
    away: fc.integer({ min: -20, max: 20 }),
    passed: fc.integer({ min: 0, max: 1_000 }),
  })
  .map(({ bins: drawn, at, binStep, active, accumulator, away, passed }) => {
    let id = 2 ** 23 + at
    const place = active % drawn.length
    const all = drawn.map(({ gap, x, y }, index) => {
      id += gap
      // Below the active bin lies token 1 alone, above it token 0.
      return { id, reserves: [index < place ? 0n : x, index > place ? 0n : y] as const }
    })
    const activeId = all[place]?.id ?? id
    return {
      ...base,
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
      volatility: { accumulator, reference: accumulator / 2n, idReference: activeId + away, lastUpdate: 1_000_000 },
      now: 1_000_000 + passed,
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
}

/** About what lies in the pool of a token. */
export function holdingOf(pool: Pool, token: number): bigint {
  if ('reserves' in pool) return pool.reserves[token] ?? 0n
  if ('balances' in pool) return pool.balances[token] ?? 0n
  if ('bins' in pool) return pool.bins.reduce((sum, bin) => sum + (bin.reserves[token] ?? 0n), 0n)
  // As if all liquidity were in range everywhere.
  return token === 0 ? (pool.liquidity << 96n) / pool.sqrtPrice : (pool.liquidity * pool.sqrtPrice) >> 96n
}
