import { DEEPBOOK_SCALE } from '@swapyard/lib/pools/sui/deepbook-math.ts'
import { TURBOS_WORD_SPACINGS } from '@swapyard/lib/pools/sui/turbos.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { outputOf } from '../../../src/swap/routing/curve.ts'
import type { Swapped } from '../../../src/swap/routing/pool.ts'
import { curveOf, type Pool, type PoolKind, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { dammFeeRate } from '../../../src/swap/routing/pools/solana/meteora-damm-v2.ts'
import { holdingOf, magnitude, type Positions, positionsOf, randomPools } from './random-pools.ts'

/**
 * Cases that fulfil the precondition of their property: 57 % of the draws or more. fast-check fails a property that rejects more than two
 * draws for each accepted one, so a swap that always returns null passes none of them.
 */
const settings = { numRuns: 200, maxSkipsPerRun: 2 } as const
const kinds = Object.keys(randomPools) as readonly PoolKind[]

type Trade = Readonly<{ pool: Pool; from: number; to: number; amount: bigint; more: bigint }>

/** A pool, a direction, and two amounts from a millionth to a multiple of the pool's balance. */
const trades = (kind: PoolKind): fc.Arbitrary<Trade> =>
  fc
    .record({
      pool: randomPools[kind] as fc.Arbitrary<Pool>,
      from: fc.nat(3),
      step: fc.nat(2),
      share: magnitude(0, 22),
      secondShare: magnitude(0, 22),
    })
    .map(({ pool, from: tokenSeed, step, share, secondShare }) => {
      const count = pool.tokens.length
      const from = tokenSeed % count
      const to = (from + 1 + (step % (count - 1))) % count
      const holding = holdingOf(pool, from)
      const amount = (part: bigint) => (holding * part) / (1n << 21n) + 1n
      return { pool, from, to, amount: amount(share), more: amount(secondShare) }
    })

/**
 * Tolerance for the precision of the contracts, in base units: fees are rounded down in units of the input; the power function of weighted
 * pools is precise to 10^-14 of the balance, and Newton's iteration in stable pools with very different balances to 10^-12; plus rounding.
 */
function tolerance({ pool, from, to }: Trade): bigint {
  const holding = holdingOf(pool, to)
  const unit = (4n * holding) / (holdingOf(pool, from) + 1n)
  return unit + holding / PRECISION[pool.kind] + 10n
}

const PRECISION: Readonly<Record<PoolKind, bigint>> = {
  'uniswap-v2': 10n ** 17n,
  'uniswap-v3': 10n ** 17n,
  'uniswap-v4': 10n ** 17n,
  solidly: 10n ** 17n,
  algebra: 10n ** 17n,
  'curve-stable': 10n ** 17n,
  'balancer-weighted': 10n ** 13n,
  'balancer-stable': 10n ** 12n,
  'liquidity-book': 10n ** 17n,
  'raydium-cpmm': 10n ** 17n,
  cetus: 10n ** 17n,
  'raydium-amm-v4': 10n ** 17n,
  'pump-swap': 10n ** 17n,
  'raydium-clmm': 10n ** 17n,
  'meteora-dlmm': 10n ** 17n,
  'meteora-damm-v2': 10n ** 17n,
  turbos: 10n ** 17n,
  deepbook: 10n ** 17n,
}

/** Upper bound of the fee that stays in a stable or compounding pool and increases the output of the second swap. */
function retainedFee(pool: Pool, output: bigint): bigint {
  if (pool.kind === 'meteora-damm-v2') {
    const rate = dammFeeRate(pool, 0)
    return pool.state.state.feeMode === 'compounding' ? (output * rate) / (10n ** 9n - rate) + 1n : 0n
  }
  if (pool.kind === 'curve-stable') return (output * pool.fee) / 10n ** 10n
  if (pool.kind === 'pump-swap') return (output * pool.state.config.flatFees.lp) / 10_000n
  return pool.kind === 'balancer-stable' ? (output * pool.swapFee) / 10n ** 18n : 0n
}

/**
 * Trades without an off-peg fee and without a decaying one. The fee of StableSwap-NG may increase faster than the output, so a larger input
 * may pay less. The fee of Meteora DLMM decays once more with each swap that stays in its bin, and that of Meteora DAMM v2 with the first one.
 */
const monotonicTrades = (kind: PoolKind): fc.Arbitrary<Trade> =>
  trades(kind).map((trade) => {
    const { pool } = trade
    if (pool.kind === 'curve-stable') return { ...trade, pool: { ...pool, offPegFee: null } }
    if (pool.kind === 'meteora-damm-v2')
      return { ...trade, pool: { ...pool, state: { ...pool.state, state: { ...pool.state.state, dynamicFee: null } } } }
    if (pool.kind !== 'meteora-dlmm') return trade
    const { pair } = pool.state
    const volatility = { ...pair.volatility, lastUpdate: pool.unixTime }
    return { ...trade, pool: { ...pool, state: { ...pool.state, pair: { ...pair, volatility } } } }
  })

describe.each(kinds)('%s', (kind) => {
  test('a larger input never pays less', () => {
    fc.assert(
      fc.property(monotonicTrades(kind), (trade) => {
        const { pool, from, to, amount, more } = trade
        const smaller = swapExact(pool, from, to, amount)
        const larger = swapExact(pool, from, to, amount + more)
        fc.pre(smaller !== null && larger !== null)
        expect(larger.amountOut + tolerance(trade)).toBeGreaterThanOrEqual(smaller.amountOut)
      }),
      settings,
    )
  })

  test('never pays more than the balance of the pool', () => {
    fc.assert(
      fc.property(trades(kind), ({ pool, from, to, amount }) => {
        const result = swapExact(pool, from, to, amount)
        fc.pre(result !== null)
        expect(result.amountOut).toBeGreaterThan(0n)
        const { next } = result
        const [before, after] = [positionsOf(pool), positionsOf(next)]
        if (before !== null && after !== null)
          return expectBalancesOfTicks({ before, after, from, to }, amount, result.amountOut)
        expect(result.amountOut).toBeLessThanOrEqual(holdingOf(pool, to))
        expect(holdingOf(next, to)).toBeLessThanOrEqual(holdingOf(pool, to) - result.amountOut)
        expect(holdingOf(next, from)).toBeLessThanOrEqual(holdingOf(pool, from) + amount)
      }),
      settings,
    )
  })

  test('two swaps pay no more than one swap of both amounts', () => {
    fc.assert(
      fc.property(monotonicTrades(kind), (trade) => {
        const { pool, from, to, amount, more } = trade
        const first = swapExact(pool, from, to, amount)
        const secondShare = first && swapExact(first.next, from, to, more)
        const whole = swapExact(pool, from, to, amount + more)
        fc.pre(first !== null && secondShare !== null && whole !== null)
        expect(first.amountOut + secondShare.amountOut).toBeLessThanOrEqual(
          whole.amountOut + tolerance(trade) + retainedFee(pool, first.amountOut),
        )
      }),
      settings,
    )
  })

  test('a round trip earns nothing', () => {
    fc.assert(
      fc.property(trades(kind), (trade) => {
        const { pool, from, to, amount } = trade
        const forward = swapExact(pool, from, to, amount)
        const back = forward && swapExact(forward.next, to, from, forward.amountOut)
        fc.pre(back !== null)
        expect(back.amountOut).toBeLessThanOrEqual(amount + tolerance({ ...trade, from: to, to: from }))
      }),
      settings,
    )
  })

  test('the curve pays what the swap pays, and its prices decrease', () => {
    fc.assert(
      fc.property(trades(kind), ({ pool, from, to, amount }) => {
        const curve = curveOf(pool, from, to)
        const result = swapExact(pool, from, to, amount)
        fc.pre(curve !== null)
        for (let index = 1; index < curve.price.length; index++)
          expect(curve.price[index]).toBeLessThan(curve.price[index - 1] as number)
        const output = outputOf(curve, Number(amount))
        fc.pre(result !== null && !Number.isNaN(output))
        // In smaller amounts rounding to base units matters.
        fc.pre(result.amountOut >= 10n ** 7n && amount >= 10n ** 7n)
        const error = Math.abs(output / Number(result.amountOut) - 1)
        expect(error).toBeLessThan(curveTolerance({ pool, from, to, amount, more: 0n }, result))
      }),
      // Two of three drawn trades with an order book are too small, or larger than the book.
      { ...settings, maxSkipsPerRun: 5 },
    )
  })
})

/** Relative error of prices 1.0001^tick in float64, and of their differences, as a share of the virtual reserves. */
const FLOAT_ERROR = 1e-10

/** The balance of a token that all positions need at the present price, by the definition of a tick, and its error. */
function balanceOfTicks({ ticks, root: price }: Positions, token: number) {
  const roots = ticks.map(({ index }) => 1.0001 ** (index / 2))
  // Exact: sums of floats would lose a small position beside a large one.
  let exactLiquidity = 0n
  let [balance, error] = [0, 1]
  for (const [at, { net }] of ticks.entries()) {
    exactLiquidity += net
    const liquidity = Number(exactLiquidity)
    const [lower, upper] = [roots[at] as number, roots[at + 1] ?? (roots[at] as number)]
    const [low, high] = [Math.min(price, lower), Math.min(price, upper)]
    const [below, above] = [high - low, 1 / Math.max(price, lower) - 1 / Math.max(price, upper)]
    balance += liquidity * (token === 0 ? above : below)
    error += liquidity * FLOAT_ERROR * (token === 0 ? 1 / Math.max(price, lower) : high)
  }
  return { balance, error }
}

type TickStates = Readonly<{ before: Positions; after: Positions; from: number; to: number }>

/** The positions pay what leaves the pool, and receive at most what enters it. */
function expectBalancesOfTicks({ before, after, from, to }: TickStates, amountIn: bigint, amountOut: bigint): void {
  const [target, targetAfter] = [balanceOfTicks(before, to), balanceOfTicks(after, to)]
  const [source, sourceAfter] = [balanceOfTicks(before, from), balanceOfTicks(after, from)]
  expect(Number(amountOut)).toBeLessThanOrEqual(target.balance + target.error)
  expect(targetAfter.balance).toBeLessThanOrEqual(target.balance - Number(amountOut) + target.error + targetAfter.error)
  expect(sourceAfter.balance).toBeLessThanOrEqual(source.balance + Number(amountIn) + source.error + sourceAfter.error)
}

/**
 * Largest relative error of the curve: 10^-7 for exact curves (a small trade in a deep pool is a small difference of large doubles), 10^-3 for
 * sampled curves; plus the contract's rounding.
 */
function curveTolerance({ pool, to, amount }: Trade, { amountOut, next }: Swapped<Pool>): number {
  const sampled =
    pool.kind === 'curve-stable' ||
    pool.kind === 'balancer-stable' ||
    pool.kind === 'liquidity-book' ||
    pool.kind === 'meteora-dlmm' ||
    (pool.kind === 'solidly' && pool.stable) ||
    (pool.kind === 'balancer-weighted' && pool.weights[0] !== pool.weights[1])
  // Toward the peg the fee decreases, but the price of the curve stays constant.
  const offPeg = pool.kind === 'curve-stable' && pool.offPegFee !== null ? Number(pool.fee * pool.offPegFee) / 1e20 : 0
  const units = roundedUnits(pool, next, to)
  const rounding = units / Number(amountOut) + units / Number(amount)
  const coarse = Number(holdingOf(pool, to) / PRECISION[pool.kind]) / Number(amountOut)
  return offPeg + (sampled ? 1e-3 : 1e-7) + rounding + coarse + floatError(pool, to, Number(amountOut))
}

/**
 * Base units of input and output that the contract rounds off: two lots of DeepBook, and some for each word of ticks of Turbos, which is a
 * step of its own.
 */
function roundedUnits(pool: Pool, next: Pool, to: number): number {
  if (pool.kind === 'turbos' && next.kind === 'turbos')
    return 10 + (3 * Math.abs(next.tick - pool.tick)) / (TURBOS_WORD_SPACINGS * pool.tickSpacing)
  if (pool.kind !== 'deepbook') return 10
  const price = to === 0 ? 1 : Number(pool.bids[0]?.price ?? 0n) / Number(DEEPBOOK_SCALE)
  return 10 + 2 * Number(pool.lotSize) * price
}

/**
 * The end of a hyperbola is the difference of two virtual reserves, which are much larger where the price is near a tick. Prices of ticks
 * are precise to 10^-14.
 */
function floatError(pool: Pool, to: number, amountOut: number): number {
  const positions = positionsOf(pool)
  if (positions === null) return 0
  const { root, liquidity } = positions
  const virtualReserve = Number(liquidity) * (to === 1 ? root : 1 / root)
  return (2e-14 * virtualReserve) / amountOut
}
