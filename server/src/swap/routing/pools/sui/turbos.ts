/* Pools of Turbos CLMM for the router. */
import { findTick, lastPriceOf } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import { swapTurbos, type TurbosState } from '@swapyard/lib/pools/sui/turbos.ts'
import type { PoolIdentity, PoolMaths } from '../../pool.ts'
import { q64Curve } from './q64-curve.ts'

export type TurbosPool = PoolIdentity &
  TurbosState &
  Readonly<{
    kind: 'turbos'
    /** The package that a swap calls, the shared object with its version, and the type of the pool's fee. */
    package: string
    config: string
    feeType: string
  }>

/** Token 0 is coin A. */
export const turbos: PoolMaths<TurbosPool> = {
  swap(pool, tokenIn, _tokenOut, amount) {
    const a2b = tokenIn === 0
    const sqrtPriceLimit = lastPriceOf(a2b)
    const result = swapTurbos(pool, { a2b, isExactIn: true, amount, sqrtPriceLimit })
    if (result.abort !== null || result.paid !== amount || result.received === 0n) return null
    return { amountOut: result.received, next: { ...pool, ...result.next } }
  },
  curve: (pool, tokenIn) => q64Curve(endAtGap(pool, tokenIn === 0), tokenIn === 0),
}

/** The pool with only the ticks up to the first without liquidity beyond it: no swap gets across. */
function endAtGap(pool: TurbosPool, a2b: boolean): TurbosPool {
  const first = findTick(pool.ticks, pool.tick) + 1
  const following = a2b ? pool.ticks.slice(0, first).reverse() : pool.ticks.slice(first)
  let liquidity = pool.liquidity
  const gap = following.findIndex(({ net }) => {
    liquidity += a2b ? -net : net
    return liquidity === 0n
  })
  const reachable = gap < 0 ? following : following.slice(0, gap + 1)
  return { ...pool, ticks: pool.liquidity === 0n ? [] : a2b ? reachable.reverse() : reachable }
}
