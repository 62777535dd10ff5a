import { describe, expect, test } from 'vitest'
import { limitOf, swapThroughTicks } from './concentrated.ts'
import { MAX_SQRT_PRICE, MAX_TICK, MIN_SQRT_PRICE, MIN_TICK } from './tick-math.ts'
import { uniswapV3 } from './uniswap-v3.ts'

/*
 * Swaps at the ends of the price range, where UniswapV3Pool.swap reverts with SPL. The tests in server/test/swap/routing/differential run the
 * contract itself.
 */

const ticks = [
  { index: MIN_TICK, net: 1n << 100n },
  { index: MAX_TICK, net: -(1n << 100n) },
]
const poolAt = (sqrtPrice: bigint, tick: number) => ({ sqrtPrice, tick, liquidity: 1n << 100n, tickSpacing: 1, ticks })
const lowest = poolAt(MIN_SQRT_PRICE, MIN_TICK)
const highest = poolAt(MAX_SQRT_PRICE - 1n, MAX_TICK - 1)

describe('without a price ahead of the current one, a swap moves nothing', () => {
  test.each([
    ['lowest price, downward', lowest, true, limitOf(true)],
    ['highest price, upward', highest, false, limitOf(false)],
    ['limit behind the price, downward', highest, true, MAX_SQRT_PRICE],
    ['limit behind the price, upward', lowest, false, MIN_SQRT_PRICE - 1n],
  ])('%s', (_, { sqrtPrice, tick, liquidity, ...state }, zeroForOne, limit) => {
    for (const amount of [1n, 1_000n, -1_000n])
      expect(swapThroughTicks({ sqrtPrice, tick, liquidity, ...state }, zeroForOne, amount, limit, 3_000n)).toEqual({
        ...{ amount0: 0n, amount1: 0n, sqrtPrice, tick, liquidity },
      })
  })

  test('a pool at the lowest price pays nothing for any amount of token 0', () => {
    const pool = { ...lowest, id: 'p', address: '0x0', dex: 'x', tokens: ['0xa', '0xb'], feePpm: 0 } as const
    // One price step in the wrong direction would take 2^100 · 1 ÷ 2^96 = 16 units.
    for (const amountIn of [1n, 16n, 17n, 1_000n])
      expect(uniswapV3.swap({ ...pool, kind: 'uniswap-v3' }, 0, 1, amountIn)).toBeNull()
  })
})
