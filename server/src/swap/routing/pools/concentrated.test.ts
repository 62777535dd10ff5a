import { describe, expect, test } from 'vitest'
import { limitOf, walk } from './concentrated.ts'
import { MAX_SQRT_PRICE, MAX_TICK, MIN_SQRT_PRICE, MIN_TICK } from './tick-math.ts'
import { uniswapV3 } from './uniswap-v3.ts'

/* What the contract does there: UniswapV3Pool.swap reverts with SPL. server/test/swap/differential asks the contract itself. */

const ticks = [
  { index: MIN_TICK, net: 1n << 100n },
  { index: MAX_TICK, net: -(1n << 100n) },
]
const at = (sqrtPrice: bigint, tick: number) => ({ sqrtPrice, tick, liquidity: 1n << 100n, tickSpacing: 1, ticks })
const least = at(MIN_SQRT_PRICE, MIN_TICK)
const most = at(MAX_SQRT_PRICE - 1n, MAX_TICK - 1)

describe('where no price lies ahead nothing moves', () => {
  test.each([
    ['the least price, down', least, true, limitOf(true)],
    ['the greatest price, up', most, false, limitOf(false)],
    ['a limit behind, down', most, true, MAX_SQRT_PRICE],
    ['a limit behind, up', least, false, MIN_SQRT_PRICE - 1n],
  ])('%s', (_, { sqrtPrice, tick, liquidity, ...rest }, zeroForOne, limit) => {
    for (const amount of [1n, 1_000n, -1_000n])
      expect(walk({ sqrtPrice, tick, liquidity, ...rest }, zeroForOne, amount, limit, 3_000n)).toEqual({
        ...{ amount0: 0n, amount1: 0n, sqrtPrice, tick, liquidity },
      })
  })

  test('a pool at the least price pays nothing for its token 0, of whatever amount', () => {
    const pool = { ...least, id: 'p', address: '0x0', dex: 'x', tokens: ['0xa', '0xb'], feePpm: 0 } as const
    // 2^100 · 1 ÷ 2^96 is what one step of the price to the wrong side would take.
    for (const amountIn of [1n, 16n, 17n, 1_000n])
      expect(uniswapV3.swap({ ...pool, kind: 'uniswap-v3' }, 0, 1, amountIn)).toBeNull()
  })
})
