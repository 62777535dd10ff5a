import { expect } from 'vitest'
import { U64_MAX } from '../../../../src/lib/bigint.ts'
import { outputOf } from '../../../../src/swap/routing/curve.ts'
import type { PoolIdentity, PoolMaths } from '../../../../src/swap/routing/pool.ts'

/** Shares of a pool's capacity. */
const SHARES = [1e-6, 1e-3, 0.1, 0.5, 0.99]
/** Smaller amounts differ by the rounding of the pool. */
const UNITS_MIN = 1e8
const ERROR_MAX = 1e-7

/** Compares the curve with the exact swap in both directions at several inputs. Returns how many inputs it compared. */
export function expectCurveToFollow<S extends PoolIdentity>(maths: PoolMaths<S>, pools: readonly S[]): number {
  let compared = 0
  for (const pool of pools)
    for (const [tokenIn, tokenOut] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const curve = maths.curve(pool, tokenIn, tokenOut)
      const capacity = curve?.startIn.at(-1) ?? 0
      for (const amount of SHARES.map((share) => BigInt(Math.floor(capacity * share)))) {
        const output = curve === null ? 0 : outputOf(curve, Number(amount))
        if (output < UNITS_MIN || amount < UNITS_MIN || amount > U64_MAX) continue
        const swapped = maths.swap(pool, tokenIn, tokenOut, amount)
        expect(Math.abs(Number(swapped?.amountOut) / output - 1)).toBeLessThan(ERROR_MAX)
        compared += 1
      }
    }
  return compared
}
