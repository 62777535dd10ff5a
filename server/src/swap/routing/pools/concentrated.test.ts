import { describe, expect, test } from 'vitest'
import { limitOf, swapThroughTicks } from './concentrated.ts'
import { MAX_SQRT_PRICE, MAX_TICK, MIN_SQRT_PRICE, MIN_TICK } from './tick-math.ts'
import { uniswapV3 } from './uniswap-v3.ts'

/* What the contract does there: UniswapV3Pool.swap reverts with SPL. server/test/swap/differential asks the contract itself. */

const ticks = [
  { index: MIN_TICK, net: 1n << 100n },
  { index: MAX_TICK, net: -(1n << 100n) },
]
const poolAt = (sqrtPrice: bigint, tick: number) => ({ sqrtPrice, tick, liquidity: 1n << 100n, tickSpacing: 1, ticks })
const lowest = poolAt(MIN_SQRT_PRICE, MIN_TICK)
const highest = poolAt(MAX_SQRT_PRICE - 1n, MAX_TICK - 1)

describe('where no price lies ahead nothing moves', () => {
  test.each([
    ['the least price, down', lowest, true, limitOf(true)],
    ['the greatest price, up', highest, false, limitOf(false)],
    ['a limit behind, down', highest, true, MAX_SQRT_PRICE],
    ['a limit behind, up', lowest, false, MIN_SQRT_PRICE - 1n],
  ])('%s', (_, { sqrtPrice, tick, liquidity, ...pool_ }, zeroForOne, limit) => {
    for (const amount of [1n, 1_000n, -1_000n])
      expect(swapThroughTicks({ sqrtPrice, tick, liquidity, ...pool_ }, zeroForOne, amount, limit, 3_000n)).toEqual({
        ...{ amount0: 0n, amount1: 0n, sqrtPrice, tick, liquidity },
      })
  })

  test('a pool at the least price pays nothing for its token 0, of whatever amount', () => {
    const pool = { ...lowest, id: 'p', address: '0x0', dex: 'x', tokens: ['0xa', '0xb'], feePpm: 0 } as const
    // 2^100 · 1 ÷ 2^96 is what one step of the price to the wrong side would take.
    for (const amountIn of [1n, 16n, 17n, 1_000n])
      expect(uniswapV3.swap({ ...pool, kind: 'uniswap-v3' }, 0, 1, amountIn)).toBeNull()
  })
})
