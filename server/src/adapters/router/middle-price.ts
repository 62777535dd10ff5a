import type { ExecutedSwap } from '../../swap/routing/execute.ts'
import { curveOf, type Pool } from '../../swap/routing/pool-kinds.ts'
import { breakDown, WHOLE } from '../../swap/routing/route-breakdown.ts'

/** Output of `amountIn` if every pool of the route traded at its current middle price, without fee. */
export function middleOutOf(swaps: readonly ExecutedSwap[], source: string, target: string, amountIn: bigint): bigint {
  let rate = 0
  for (const { share, hops } of breakDown(swaps, source, target)) {
    let path = share / WHOLE
    for (const { pools } of hops)
      path *= pools.reduce(
        (sum, { swap, share: part }) => sum + (part / WHOLE) * middlePrice(swap.pool, swap.tokenIn, swap.tokenOut),
        0,
      )
    rate += path
  }
  return multiply(amountIn, rate)
}

/** Pools that store the square root of the price with 96 binary decimals. */
const isConcentrated = (pool: Pool) =>
  pool.kind === 'uniswap-v3' || pool.kind === 'uniswap-v4' || pool.kind === 'algebra'

/** Base units out per base unit in. */
function middlePrice(pool: Pool, tokenIn: number, tokenOut: number): number {
  if (isConcentrated(pool)) {
    const price = (Number(pool.sqrtPrice) / 2 ** 96) ** 2
    return tokenIn === 0 ? price : 1 / price
  }
  const curve = curveOf(pool, tokenIn, tokenOut)
  return curve === null ? 0 : (curve.price[0] ?? 0) / curve.feeFactor
}

/** Multiplies by a float with fifteen digits, which suffices for a price impact. */
function multiply(amount: bigint, rate: number): bigint {
  if (!Number.isFinite(rate) || rate <= 0) return 0n
  const scale = 10 ** Math.max(0, 15 - Math.ceil(Math.log10(rate)))
  return Number.isFinite(scale) ? (amount * BigInt(Math.round(rate * scale))) / BigInt(scale) : 0n
}
