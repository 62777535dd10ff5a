import { divideUp } from '../../../lib/bigint.ts'
import { type Curve, createCurve, type Hyperbola } from '../curve.ts'
import type { Swapped } from '../pool.ts'
import {
  approximateRoot,
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  Q96,
  sqrtPriceAtTick,
  tickAtSqrtPrice,
} from './tick-math.ts'

/** `net` is the liquidity added (positive) or removed (negative) when the price crosses this tick upward. */
export type Tick = Readonly<{ index: number; net: bigint }>

/** State of concentrated liquidity as in Uniswap V3. V4 and the forks differ in their fees. `sqrtPrice` is in Q64.96. */
export type Concentrated = Readonly<{
  sqrtPrice: bigint
  tick: number
  liquidity: bigint
  tickSpacing: number
  /** Initialized ticks in increasing order. */
  ticks: readonly Tick[]
}>

const PPM = 1_000_000n

/** Amounts of a swap from the pool's side (positive = input, negative = output), and the state after it. */
export type TickSwap = Readonly<{
  amount0: bigint
  amount1: bigint
  sqrtPrice: bigint
  tick: number
  liquidity: bigint
}>

/** Mutable state of a swap; `remaining` and `otherAmount` have the signs of the contract. */
type SwapState = { remaining: bigint; otherAmount: bigint; sqrtPrice: bigint; tick: number; liquidity: bigint }

/**
 * UniswapV3Pool.swap. A positive `amount` is an exact input, a negative one an exact output. The swap stops at the price `limit`; if the
 * limit is not ahead of the price, nothing moves (the contract reverts). At the end of each bitmap word of 256 tick spacings the contract
 * takes a separate step and rounds, even if there is no tick; without that step one swap in six would differ. Contracts with a linked list
 * of ticks (`byWords` false) step from tick to tick.
 */
export function swapThroughTicks(
  pool: Concentrated,
  zeroForOne: boolean,
  amount: bigint,
  limit: bigint,
  feePpm: bigint,
  byWords = true,
): TickSwap {
  const state: SwapState = {
    remaining: amount,
    otherAmount: 0n,
    sqrtPrice: pool.sqrtPrice,
    tick: pool.tick,
    liquidity: pool.liquidity,
  }
  let position = zeroForOne ? lastAtOrBelow(pool.ticks, pool.tick) : lastAtOrBelow(pool.ticks, pool.tick) + 1
  while (state.remaining !== 0n && (zeroForOne ? state.sqrtPrice > limit : state.sqrtPrice < limit)) {
    const wordEndTick = byWords ? wordEnd(state.tick, pool.tickSpacing, zeroForOne) : zeroForOne ? MIN_TICK : MAX_TICK
    const nextTick = pool.ticks[position]
    const isTick =
      nextTick !== undefined && (zeroForOne ? nextTick.index >= wordEndTick : nextTick.index <= wordEndTick)
    const next = Math.max(MIN_TICK, Math.min(MAX_TICK, isTick ? nextTick.index : wordEndTick))
    const nextPrice = sqrtPriceAtTick(next)
    const target = (zeroForOne ? nextPrice < limit : nextPrice > limit) ? limit : nextPrice
    const before = state.sqrtPrice
    step(state, target, feePpm)
    if (state.sqrtPrice === nextPrice) {
      if (isTick) {
        state.liquidity += zeroForOne ? -nextTick.net : nextTick.net
        position += zeroForOne ? -1 : 1
      }
      state.tick = zeroForOne ? next - 1 : next
    } else if (state.sqrtPrice !== before) state.tick = tickAtSqrtPrice(state.sqrtPrice)
  }
  const specifiedAmount = amount - state.remaining
  const [amount0, amount1] =
    zeroForOne === amount > 0n ? [specifiedAmount, state.otherAmount] : [state.otherAmount, specifiedAmount]
  return { amount0, amount1, sqrtPrice: state.sqrtPrice, tick: state.tick, liquidity: state.liquidity }
}

/** The price limit of the direction: the last price that a swap can reach. */
export const limitOf = (zeroForOne: boolean): bigint => (zeroForOne ? MIN_SQRT_PRICE + 1n : MAX_SQRT_PRICE - 1n)

/** Swaps the whole input. Null if the price reaches its limit before that, or if the pool pays nothing. */
export function swapConcentrated<S extends Concentrated>(
  state: S,
  tokenIn: number,
  amountIn: bigint,
  feePpm: number,
  byWords = true,
): Swapped<S> | null {
  if (amountIn <= 0n) return null
  const zeroForOne = tokenIn === 0
  const result = swapThroughTicks(state, zeroForOne, amountIn, limitOf(zeroForOne), BigInt(feePpm), byWords)
  const [input, output] = zeroForOne ? [result.amount0, -result.amount1] : [result.amount1, -result.amount0]
  if (input !== amountIn || output <= 0n) return null
  const { sqrtPrice, tick, liquidity } = result
  return { amountOut: output, next: { ...state, sqrtPrice, tick, liquidity } }
}

/** Last tick of the current bitmap word in this direction (TickBitmap.nextInitializedTickWithinOneWord). */
function wordEnd(tick: number, spacing: number, zeroForOne: boolean): number {
  const compressed = Math.floor(tick / spacing) + (zeroForOne ? 0 : 1)
  const wordEndTick = Math.floor(compressed / 256) * 256
  return (zeroForOne ? wordEndTick : wordEndTick + 255) * spacing
}

/** Index of the last tick at or below `tick`, or −1. */
function lastAtOrBelow(ticks: readonly Tick[], tick: number): number {
  let low = -1
  let high = ticks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((ticks[middle] as Tick).index <= tick) low = middle
    else high = middle - 1
  }
  return low
}

/** SwapMath.computeSwapStep: moves the price toward `target` until the remaining amount is used up. */
function step(state: SwapState, target: bigint, feePpm: bigint): void {
  const { sqrtPrice, liquidity } = state
  const zeroForOne = sqrtPrice >= target
  if (state.remaining >= 0n) {
    const amountAfterFee = (state.remaining * (PPM - feePpm)) / PPM
    const required = zeroForOne
      ? amount0Delta(target, sqrtPrice, liquidity, true)
      : amount1Delta(sqrtPrice, target, liquidity, true)
    const reachesTarget = amountAfterFee >= required
    const next = reachesTarget ? target : priceFromInput(sqrtPrice, liquidity, amountAfterFee, zeroForOne)
    const amountIn = reachesTarget
      ? required
      : zeroForOne
        ? amount0Delta(next, sqrtPrice, liquidity, true)
        : amount1Delta(sqrtPrice, next, liquidity, true)
    const amountOut = zeroForOne
      ? amount1Delta(next, sqrtPrice, liquidity, false)
      : amount0Delta(sqrtPrice, next, liquidity, false)
    // If the target is not reached, the whole remaining input is used and the difference is the fee.
    const fee = reachesTarget ? divideUp(amountIn * feePpm, PPM - feePpm) : state.remaining - amountIn
    state.remaining -= amountIn + fee
    state.otherAmount -= amountOut
    state.sqrtPrice = next
    return
  }
  const required = zeroForOne
    ? amount1Delta(target, sqrtPrice, liquidity, false)
    : amount0Delta(sqrtPrice, target, liquidity, false)
  const reachesTarget = -state.remaining >= required
  const next = reachesTarget ? target : priceFromOutput(sqrtPrice, liquidity, -state.remaining, zeroForOne)
  const output = reachesTarget
    ? required
    : zeroForOne
      ? amount1Delta(next, sqrtPrice, liquidity, false)
      : amount0Delta(sqrtPrice, next, liquidity, false)
  // biome-ignore lint/complexity/useMathMinMax: these are bigints
  const amountOut = output > -state.remaining ? -state.remaining : output
  const amountIn = zeroForOne
    ? amount0Delta(next, sqrtPrice, liquidity, true)
    : amount1Delta(sqrtPrice, next, liquidity, true)
  state.remaining += amountOut
  state.otherAmount += amountIn + divideUp(amountIn * feePpm, PPM - feePpm)
  state.sqrtPrice = next
}

/** SqrtPriceMath.getAmount0Delta between two prices. `up` rounds up. */
function amount0Delta(lower: bigint, upper: bigint, liquidity: bigint, up: boolean): bigint {
  const numerator = (liquidity << 96n) * (upper - lower)
  return up ? divideUp(divideUp(numerator, upper), lower) : numerator / upper / lower
}

/** SqrtPriceMath.getAmount1Delta. `up` rounds up. */
function amount1Delta(lower: bigint, upper: bigint, liquidity: bigint, up: boolean): bigint {
  const product = liquidity * (upper - lower)
  return up ? divideUp(product, Q96) : product / Q96
}

const UINT256 = 1n << 256n

/** SqrtPriceMath.getNextSqrtPriceFromInput. */
function priceFromInput(price: bigint, liquidity: bigint, amount: bigint, zeroForOne: boolean): bigint {
  if (!zeroForOne) return price + (amount << 96n) / liquidity
  if (amount === 0n) return price
  const numerator = liquidity << 96n
  const product = amount * price
  // The contract uses the precise formula only if neither the product nor the sum overflows 256 bits.
  if (product < UINT256 && numerator + product < UINT256) return divideUp(numerator * price, numerator + product)
  return divideUp(numerator, numerator / price + amount)
}

/** SqrtPriceMath.getNextSqrtPriceFromOutput. */
function priceFromOutput(price: bigint, liquidity: bigint, amount: bigint, zeroForOne: boolean): bigint {
  if (zeroForOne) return price - divideUp(amount << 96n, liquidity)
  const numerator = liquidity << 96n
  return divideUp(numerator * price, numerator - amount * price)
}

const HYPERBOLAS_MAX = 512

/** The curve: one hyperbola per tick range, with virtual reserves L÷√P and L·√P. Ends after HYPERBOLAS_MAX of them. */
export function concentratedCurve(pool: Concentrated, zeroForOne: boolean, feePpm: number, gas: number): Curve | null {
  const feeFactor = 1 - feePpm / 1e6
  const hyperbolas: Hyperbola[] = []
  let liquidity = Number(pool.liquidity)
  let root = Number(pool.sqrtPrice) / 2 ** 96
  let position = zeroForOne ? lastAtOrBelow(pool.ticks, pool.tick) : lastAtOrBelow(pool.ticks, pool.tick) + 1
  for (; hyperbolas.length < HYPERBOLAS_MAX; position += zeroForOne ? -1 : 1) {
    const tick = pool.ticks[position]
    if (tick === undefined) break
    const next = approximateRoot(tick.index)
    if (liquidity > 0) {
      const [reserveIn, reserveOut] = zeroForOne
        ? [liquidity / root, liquidity * root]
        : [liquidity * root, liquidity / root]
      const end = zeroForOne ? liquidity / next : liquidity * next
      hyperbolas.push({ reserveIn, reserveOut, capacity: (end - reserveIn) / feeFactor })
    }
    liquidity += Number(zeroForOne ? -tick.net : tick.net)
    root = next
  }
  return hyperbolas.length === 0 ? null : createCurve(hyperbolas, feeFactor, gas)
}
