/* Pools of DeepBook v3 for the router. */
import { swapDeepbook } from '@swapyard/lib/pools/sui/deepbook.ts'
import { type DeepbookOrder, type DeepbookState, FILLS_MAX } from '@swapyard/lib/pools/sui/deepbook-matching.ts'
import { DEEPBOOK_SCALE } from '@swapyard/lib/pools/sui/deepbook-math.ts'
import { inputFeeRate } from '@swapyard/lib/pools/sui/deepbook-quote.ts'
import { type Curve, createCurve, type Hyperbola } from '../../curve.ts'
import type { PoolIdentity, PoolMaths } from '../../pool.ts'
import { FALL_MIN, hyperbola } from '../sampled-curve.ts'
import { SUI_SWAP_GAS } from './q64-curve.ts'

export type DeepbookPool = PoolIdentity &
  DeepbookState &
  Readonly<{
    kind: 'deepbook'
    /** The package that a swap calls, and the coin type of DEEP. */
    package: string
    feeCoin: string
    /** Version of the pool's object with these orders. */
    objectVersion: bigint
  }>

/** Token 0 is the base. The fee is paid in the input, so the router needs no DEEP. */
export const deepbook: PoolMaths<DeepbookPool> = { swap, curve }

/** Less than a lot of the input stays with the trader. Null where the book ends before the input. */
function swap(pool: DeepbookPool, tokenIn: number, _tokenOut: number, amount: bigint) {
  const result = swapDeepbook<DeepbookOrder, DeepbookPool>(pool, {
    ...{ isBid: tokenIn === 1, amount, deepIn: 0n, outputMin: 1n },
  })
  if (result.abort !== null || result.isExhausted || result.received === 0n) return null
  return { amountOut: result.received, next: result.next }
}

/** Price and base of the orders that one swap can match, by price. */
function levelsOf(
  { bids, asks, nowMs }: DeepbookPool,
  isBid: boolean,
): readonly Readonly<{ price: number; base: number }>[] {
  const levels = new Map<bigint, bigint>()
  for (const { price, remaining, expiresAtMs } of (isBid ? asks : bids).slice(0, FILLS_MAX))
    if (nowMs <= expiresAtMs) levels.set(price, (levels.get(price) ?? 0n) + remaining)
  return [...levels].map(([price, base]) => ({ price: Number(price) / Number(DEEPBOOK_SCALE), base: Number(base) }))
}

/** One hyperbola per price, whose price falls by `FALL_MIN`. The curve knows neither lots nor the minimum size. */
function curve(pool: DeepbookPool, tokenIn: number): Curve | null {
  const isBid = tokenIn === 1
  const hyperbolas: Hyperbola[] = []
  let last = Number.POSITIVE_INFINITY
  for (const { price, base } of levelsOf(pool, isBid)) {
    const start = Math.min(isBid ? 1 / price : price, last * (1 - FALL_MIN))
    hyperbolas.push(hyperbola(start, FALL_MIN, isBid ? base * price : base))
    last = start * (1 - FALL_MIN)
  }
  const feeFactor = 1 / (1 + Number(inputFeeRate(pool)) / Number(DEEPBOOK_SCALE))
  const gross = hyperbolas.map(({ capacity, ...rest }) => ({ ...rest, capacity: capacity / feeFactor }))
  return gross.length === 0 ? null : createCurve(gross, feeFactor, SUI_SWAP_GAS)
}
