import type { Q64State } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import type { Curve } from '../../curve.ts'
import { concentratedCurve } from '../concentrated.ts'

/** Computation units; the least that Sui charges a transaction for. What a swap adds to it is not measured. */
export const SUI_SWAP_GAS = 1_000

/** The curve of one direction. It does not use the tick spacing. */
export const q64Curve = (pool: Q64State, a2b: boolean): Curve | null =>
  concentratedCurve(
    { ...pool, sqrtPrice: pool.sqrtPrice << 32n, tickSpacing: 1 },
    a2b,
    Number(pool.feeRate),
    SUI_SWAP_GAS,
  )
