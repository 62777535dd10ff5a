import { swapCetus } from '@swapyard/lib/pools/sui/cetus.ts'
import { lastPriceOf, type Q64State } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import type { PoolIdentity, PoolMaths } from '../../pool.ts'
import { q64Curve } from './q64-curve.ts'

export type CetusPool = PoolIdentity &
  Q64State &
  Readonly<{
    kind: 'cetus'
    /** The package that a swap calls, and the shared object with its settings. */
    package: string
    config: string
  }>

/** Token 0 is coin A. */
export const cetus: PoolMaths<CetusPool> = {
  swap(pool, tokenIn, _tokenOut, amount) {
    const a2b = tokenIn === 0
    const sqrtPriceLimit = lastPriceOf(a2b)
    const result = swapCetus(pool, { a2b, isExactIn: true, amount, sqrtPriceLimit })
    if (result.abort !== null || result.paid !== amount) return null
    return { amountOut: result.received, next: { ...pool, ...result.next } }
  },
  curve: (pool, tokenIn) => q64Curve(pool, tokenIn === 0),
}
