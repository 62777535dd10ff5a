import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { outputOf } from '../../../src/swap/routing/curve.ts'
import { curveOf, type Pool, type PoolKind, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { holdingOf, magnitude, randomPools } from './random-pools.ts'

const RUNS = 200
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
}

/** Upper bound of the fee that stays in a stable pool and increases the output of the second swap. */
function retainedFee(pool: Pool, output: bigint): bigint {
  if (pool.kind === 'curve-stable') return (output * pool.fee) / 10n ** 10n
  return pool.kind === 'balancer-stable' ? (output * pool.swapFee) / 10n ** 18n : 0n
}

/** False for StableSwap-NG pools with an off-peg fee: the fee may increase faster than the output, so a larger input may pay less. */
const isMonotonic = (pool: Pool) => pool.kind !== 'curve-stable' || pool.offPegFee === null

describe.each(kinds)('%s', (kind) => {
  test('a larger input never pays less', () => {
    fc.assert(
      fc.property(trades(kind), (trade) => {
        const { pool, from, to, amount, more } = trade
        const smaller = swapExact(pool, from, to, amount)
        const larger = swapExact(pool, from, to, amount + more)
        if (smaller === null || larger === null || !isMonotonic(pool)) return
        expect(larger.amountOut + tolerance(trade)).toBeGreaterThanOrEqual(smaller.amountOut)
      }),
      { numRuns: RUNS },
    )
  })

  test('never pays more than the balance of the pool', () => {
    fc.assert(
      fc.property(trades(kind), ({ pool, from, to, amount }) => {
        const result = swapExact(pool, from, to, amount)
        if (result === null || 'ticks' in pool) return
        expect(result.amountOut).toBeGreaterThan(0n)
        expect(result.amountOut).toBeLessThanOrEqual(holdingOf(pool, to))
        expect(holdingOf(result.next, to)).toBeLessThanOrEqual(holdingOf(pool, to) - result.amountOut)
        expect(holdingOf(result.next, from)).toBeLessThanOrEqual(holdingOf(pool, from) + amount)
      }),
      { numRuns: RUNS },
    )
  })

  test('two swaps pay no more than one swap of both amounts', () => {
    fc.assert(
      fc.property(trades(kind), (trade) => {
        const { pool, from, to, amount, more } = trade
        const first = swapExact(pool, from, to, amount)
        const secondShare = first && swapExact(first.next, from, to, more)
        const whole = swapExact(pool, from, to, amount + more)
        if (first === null || secondShare === null || whole === null || !isMonotonic(pool)) return
        expect(first.amountOut + secondShare.amountOut).toBeLessThanOrEqual(
          whole.amountOut + tolerance(trade) + retainedFee(pool, first.amountOut),
        )
      }),
      { numRuns: RUNS },
    )
  })

  test('a round trip earns nothing', () => {
    fc.assert(
      fc.property(trades(kind), (trade) => {
        const { pool, from, to, amount } = trade
        const forward = swapExact(pool, from, to, amount)
        const back = forward && swapExact(forward.next, to, from, forward.amountOut)
        if (back === null) return
        expect(back.amountOut).toBeLessThanOrEqual(amount + tolerance({ ...trade, from: to, to: from }))
      }),
      { numRuns: RUNS },
    )
  })

  test('the curve pays what the swap pays, and its prices decrease', () => {
    fc.assert(
      fc.property(trades(kind), ({ pool, from, to, amount }) => {
        const curve = curveOf(pool, from, to)
        const result = swapExact(pool, from, to, amount)
        if (curve === null) return
        for (let index = 1; index < curve.price.length; index++)
          expect(curve.price[index]).toBeLessThan(curve.price[index - 1] as number)
        const output = outputOf(curve, Number(amount))
        // Skip amounts so small that rounding to base units matters.
        if (result === null || Number.isNaN(output) || result.amountOut < 10n ** 7n || amount < 10n ** 7n) return
        const error = Math.abs(output / Number(result.amountOut) - 1)
        expect(error).toBeLessThan(curveTolerance({ pool, from, to, amount, more: 0n }, result.amountOut))
      }),
      { numRuns: RUNS },
    )
  })
})

/**
 * Largest relative error of the curve: 10^-7 for exact curves (a small trade in a deep pool is a small difference of large doubles), 10^-3 for
 * sampled curves; plus the contract's rounding.
 */
function curveTolerance({ pool, to, amount }: Trade, amountOut: bigint): number {
  const sampled =
    pool.kind === 'curve-stable' ||
    pool.kind === 'balancer-stable' ||
    pool.kind === 'liquidity-book' ||
    (pool.kind === 'solidly' && pool.stable) ||
    (pool.kind === 'balancer-weighted' && pool.weights[0] !== pool.weights[1])
  // Toward the peg the fee decreases, but the price of the curve stays constant.
  const offPeg = pool.kind === 'curve-stable' && pool.offPegFee !== null ? Number(pool.fee * pool.offPegFee) / 1e20 : 0
  const rounding = 10 / Number(amountOut) + 10 / Number(amount)
  const coarse = Number(holdingOf(pool, to) / PRECISION[pool.kind]) / Number(amountOut)
  return offPeg + (sampled ? 1e-3 : 1e-7) + rounding + coarse
}
