import {
  SQRT_PRICE_MAX,
  SQRT_PRICE_MIN,
  sqrtPriceAtTick,
  TICK_MAX,
  tickAtSqrtPrice,
} from '@swapyard/lib/pools/sui/q64-tick.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { magnitude } from '../../server/test/swap/routing/random-pools.ts'
import { drawSamples } from '../support/draw-samples.ts'
import { loadCetus, loadTurbos, toBigint } from './packages.ts'

/*
 * Prices of ticks against @cetusprotocol/cetus-sui-clmm-sdk and turbos-clmm-sdk, which find the tick of a price by its binary logarithm.
 * The package of Turbos has no further mathematics of swaps: it asks a node for them.
 */

const { TickMath, toBN } = loadCetus()
const turbos = new (loadTurbos().MathUtil)()

const ticks = fc.oneof(
  fc.integer({ min: -TICK_MAX, max: TICK_MAX }),
  fc.integer({ min: -1_000, max: 1_000 }),
  fc.constantFrom(-TICK_MAX, 1 - TICK_MAX, -1, 0, 1, TICK_MAX - 1, TICK_MAX),
)

describe.each([
  { name: 'Cetus', toSqrtPrice: TickMath.tickIndexToSqrtPriceX64, toTick: TickMath.sqrtPriceX64ToTickIndex },
  {
    ...{ name: 'Turbos', toSqrtPrice: turbos.tickIndexToSqrtPriceX64.bind(turbos) },
    toTick: turbos.sqrtPriceX64ToTickIndex.bind(turbos),
  },
])('ticks of $name', ({ toSqrtPrice, toTick }) => {
  test('have the prices of the package', () => {
    for (const tick of drawSamples(ticks, 3_000))
      expect([tick, sqrtPriceAtTick(tick)]).toEqual([tick, toBigint(toSqrtPrice(tick))])
  })

  test('are found at a price as the package finds them', () => {
    const prices = fc.oneof(
      // Close to the price of a tick, on both sides.
      fc
        .record({ tick: ticks, distance: fc.bigInt(-2n, 2n) })
        .map(({ tick, distance }) => sqrtPriceAtTick(tick) + distance),
      magnitude(32, 95),
    )
    const inside = prices.filter((price) => price >= SQRT_PRICE_MIN && price <= SQRT_PRICE_MAX)
    for (const price of drawSamples(inside, 1_500))
      expect([price, tickAtSqrtPrice(price)]).toEqual([price, toTick(toBN(price) as never)])
  })
})
