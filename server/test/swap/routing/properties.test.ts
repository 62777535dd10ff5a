import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { outputOf } from '../../../src/swap/routing/curve.ts'
import { curveOf, type Pool, type PoolKind, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { holdingOf, magnitude, randomPools } from './random-pools.ts'

const RUNS = 200
const kinds = Object.keys(randomPools) as readonly PoolKind[]

type Trade = Readonly<{ pool: Pool; from: number; to: number; amount: bigint; more: bigint }>

/** A pool, a direction, and two amounts from a millionth of what lies there to a multiple of it. */
const trades = (kind: PoolKind): fc.Arbitrary<Trade> =>
  fc
    .record({
      pool: randomPools[kind] as fc.Arbitrary<Pool>,
      from: fc.nat(3),
      step: fc.nat(2),
      share: magnitude(0, 22),
      second: magnitude(0, 22),
    })
    .map(({ pool, from: drawn, step, share, second }) => {
      const count = pool.tokens.length
      const from = drawn % count
      const to = (from + 1 + (step % (count - 1))) % count
      const holding = holdingOf(pool, from)
      const amount = (part: bigint) => (holding * part) / (1n << 21n) + 1n
      return { pool, from, to, amount: amount(share), more: amount(second) }
    })

/**
 * What two swaps may pay more than one for the same. Nothing, but where a contract's own numbers are not that fine: fees are rounded
 * down in units of what comes in; the power of a weighted pool is good to 10^-14 of the balance, Newton's iteration in a stable
 * pool whose tokens lie far apart to 10^-12; the rest is rounding.
 */
function slack({ pool, from, to }: Trade): bigint {
  const holding = holdingOf(pool, to)
  const unit = (4n * holding) / (holdingOf(pool, from) + 1n)
  return unit + holding / FINENESS[pool.kind] + 10n
}

const FINENESS: Readonly<Record<PoolKind, bigint>> = {
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

/** The fee that stays in a stable pool makes it deeper for the second swap. */
function deepened(pool: Pool, paid: bigint): bigint {
  if (pool.kind === 'curve-stable') return (paid * pool.fee) / 10n ** 10n
  return pool.kind === 'balancer-stable' ? (paid * pool.swapFee) / 10n ** 18n : 0n
}

/** With its fee off the peg a StableSwap-NG pool does pay less for more: the fee grows faster than what is paid. */
const grows = (pool: Pool) => pool.kind !== 'curve-stable' || pool.offPegFee === null

describe.each(kinds)('%s', (kind) => {
  test('a greater input never pays less', () => {
    fc.assert(
      fc.property(trades(kind), (trade) => {
        const { pool, from, to, amount, more } = trade
        const less = swapExact(pool, from, to, amount)
        const greater = swapExact(pool, from, to, amount + more)
        if (less === null || greater === null || !grows(pool)) return
        expect(greater.amountOut + slack(trade)).toBeGreaterThanOrEqual(less.amountOut)
      }),
      { numRuns: RUNS },
    )
  })

  test('never pays more than there is', () => {
    fc.assert(
      fc.property(trades(kind), ({ pool, from, to, amount }) => {
        const swapped = swapExact(pool, from, to, amount)
        if (swapped === null || 'ticks' in pool) return
        expect(swapped.amountOut).toBeGreaterThan(0n)
        expect(swapped.amountOut).toBeLessThanOrEqual(holdingOf(pool, to))
        expect(holdingOf(swapped.next, to)).toBeLessThanOrEqual(holdingOf(pool, to) - swapped.amountOut)
        expect(holdingOf(swapped.next, from)).toBeLessThanOrEqual(holdingOf(pool, from) + amount)
      }),
      { numRuns: RUNS },
    )
  })

  test('two swaps pay no more than one of both amounts', () => {
    fc.assert(
      fc.property(trades(kind), (trade) => {
        const { pool, from, to, amount, more } = trade
        const first = swapExact(pool, from, to, amount)
        const second = first && swapExact(first.next, from, to, more)
        const whole = swapExact(pool, from, to, amount + more)
        if (first === null || second === null || whole === null || !grows(pool)) return
        expect(first.amountOut + second.amountOut).toBeLessThanOrEqual(
          whole.amountOut + slack(trade) + deepened(pool, first.amountOut),
        )
      }),
      { numRuns: RUNS },
    )
  })

  test('there and back again earns nothing', () => {
    fc.assert(
      fc.property(trades(kind), (trade) => {
        const { pool, from, to, amount } = trade
        const there = swapExact(pool, from, to, amount)
        const back = there && swapExact(there.next, to, from, there.amountOut)
        if (back === null) return
        expect(back.amountOut).toBeLessThanOrEqual(amount + slack({ ...trade, from: to, to: from }))
      }),
      { numRuns: RUNS },
    )
  })

  test('the curve pays what the swap pays, and its prices fall', () => {
    fc.assert(
      fc.property(trades(kind), ({ pool, from, to, amount }) => {
        const curve = curveOf(pool, from, to)
        const swapped = swapExact(pool, from, to, amount)
        if (curve === null) return
        for (let index = 1; index < curve.price.length; index++)
          expect(curve.price[index]).toBeLessThan(curve.price[index - 1] as number)
        const paid = outputOf(curve, Number(amount))
        // Rounding to whole units must not show.
        if (swapped === null || Number.isNaN(paid) || swapped.amountOut < 10n ** 7n || amount < 10n ** 7n) return
        const error = Math.abs(paid / Number(swapped.amountOut) - 1)
        expect(error).toBeLessThan(closeness({ pool, from, to, amount, more: 0n }, swapped.amountOut))
      }),
      { numRuns: RUNS },
    )
  })
})

/**
 * 10^-7 where the curve is the pool's own (a small trade of a deep pool is a small difference of large doubles), 10^-3 where it is
 * sampled; beside, what the contract's rounding takes.
 */
function closeness({ pool, to, amount }: Trade, amountOut: bigint): number {
  const sampled =
    pool.kind === 'curve-stable' ||
    pool.kind === 'balancer-stable' ||
    pool.kind === 'liquidity-book' ||
    (pool.kind === 'solidly' && pool.stable) ||
    (pool.kind === 'balancer-weighted' && pool.weights[0] !== pool.weights[1])
  // Towards the peg the fee falls, and the curve stays level.
  const offPeg = pool.kind === 'curve-stable' && pool.offPegFee !== null ? Number(pool.fee * pool.offPegFee) / 1e20 : 0
  const rounded = 10 / Number(amountOut) + 10 / Number(amount)
  const coarse = Number(holdingOf(pool, to) / FINENESS[pool.kind]) / Number(amountOut)
  return offPeg + (sampled ? 1e-3 : 1e-7) + rounded + coarse
}
