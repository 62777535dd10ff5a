import { createCurve } from '../curve.ts'
import type { PoolIdentity, PoolMaths } from '../pool.ts'
import { type Point, sampledCurve } from './sampled-curve.ts'

/** Solidly and its forks. The invariant is x·y for volatile pairs and x³y + y³x for stable pairs. The fee on the input leaves the pair. */
export type SolidlyPool = PoolIdentity &
  Readonly<{
    kind: 'solidly'
    stable: boolean
    /**
     * Newton iteration of a stable pair. `v1` (Solidly, Velodrome V1 and most forks) ends when a step is at most 1. `v2` (Velodrome V2,
     * Aerodrome and its forks) continues until it cannot get closer.
     */
    newton: 'v1' | 'v2'
    reserves: readonly [bigint, bigint]
    /** 10^decimals of each token. */
    units: readonly [bigint, bigint]
    /** Fee in millionths of the input. */
    feePpm: number
  }>

const PPM = 1_000_000n
const ONE = 10n ** 18n
const UINT256 = 1n << 256n
const STEPS_MAX = 255
/** Gas of one swap through our executor contract. */
const GAS_VOLATILE = 100_000
const GAS_STABLE = 125_000

/** Pair.getAmountOut, then the pair's check that k has not decreased. */
function swap(state: SolidlyPool, tokenIn: number, tokenOut: number, amountIn: bigint) {
  const reserveIn = state.reserves[tokenIn]
  const reserveOut = state.reserves[tokenOut]
  if (reserveIn === undefined || reserveOut === undefined || tokenIn === tokenOut || amountIn <= 0n) return null
  if (reserveIn === 0n || reserveOut === 0n) return null
  const netInput = amountIn - (amountIn * BigInt(state.feePpm)) / PPM
  const amountOut = state.stable
    ? stableOut(state, tokenIn, netInput, reserveIn, reserveOut)
    : (netInput * reserveOut) / (reserveIn + netInput)
  if (amountOut === null || amountOut <= 0n || amountOut >= reserveOut) return null
  const reserves =
    tokenIn === 0
      ? ([reserveIn + netInput, reserveOut - amountOut] as const)
      : ([reserveOut - amountOut, reserveIn + netInput] as const)
  if (product(state, ...reserves) < product(state, ...state.reserves)) return null
  return { amountOut, next: { ...state, reserves } }
}

/** Pair._k. */
function product({ stable, units }: SolidlyPool, reserve0: bigint, reserve1: bigint): bigint {
  if (!stable) return reserve0 * reserve1
  const x = (reserve0 * ONE) / units[0]
  const y = (reserve1 * ONE) / units[1]
  return (((x * y) / ONE) * ((x * x) / ONE + (y * y) / ONE)) / ONE
}

function stableOut(
  state: SolidlyPool,
  tokenIn: number,
  netInput: bigint,
  reserveIn: bigint,
  reserveOut: bigint,
): bigint | null {
  const [unitIn, unitOut] = tokenIn === 0 ? state.units : ([state.units[1], state.units[0]] as const)
  const before = (reserveOut * ONE) / unitOut
  const x = (netInput * ONE) / unitIn + (reserveIn * ONE) / unitIn
  const target = product(state, ...state.reserves)
  const after = state.newton === 'v1' ? solveV1(x, target, before) : solveV2(state, x, target, before)
  if (after === null || after > before) return null
  return ((before - after) * unitOut) / ONE
}

/** Whether _k of these reserves would overflow 256 bits. */
function overflows({ units }: SolidlyPool, reserve0: bigint, reserve1: bigint): boolean {
  const x = (reserve0 * ONE) / units[0]
  const y = (reserve1 * ONE) / units[1]
  const sum = (x * x) / ONE + (y * y) / ONE
  return [x * x, y * y, x * y, ((x * y) / ONE) * sum].some((number) => number >= UINT256)
}

/** dk ÷ dy = 3xy² + x³. */
const slope = (x: bigint, y: bigint): bigint => (3n * x * ((y * y) / ONE)) / ONE + (((x * x) / ONE) * x) / ONE

/** _get_y of Solidly and Velodrome V1. Its _f multiplies in a different order than _k. */
function solveV1(x: bigint, target: bigint, start: bigint): bigint | null {
  const value = (y: bigint) => (x * ((((y * y) / ONE) * y) / ONE)) / ONE + (((((x * x) / ONE) * x) / ONE) * y) / ONE
  let y = start
  for (let step = 0; step < STEPS_MAX; step++) {
    const before = y
    const now = value(y)
    const gradient = slope(x, y)
    if (gradient === 0n) return null
    y += now < target ? ((target - now) * ONE) / gradient : -(((now - target) * ONE) / gradient)
    if (y < 0n) return null
    const change = y - before
    if (change <= 1n && change >= -1n) return y
  }
  return y
}

/**
 * _get_y of Velodrome V2 and Aerodrome. If a step rounds to zero, it tests the neighbouring value. Upward it does so with _k, which scales
 * its already scaled arguments by the tokens' units again and reverts on overflow.
 */
function solveV2(state: SolidlyPool, x: bigint, target: bigint, start: bigint): bigint | null {
  const value = (y: bigint) => (((x * y) / ONE) * ((x * x) / ONE + (y * y) / ONE)) / ONE
  let y = start
  for (let step = 0; step < STEPS_MAX; step++) {
    const now = value(y)
    const gradient = slope(x, y)
    if (gradient === 0n) return null
    if (now < target) {
      const up = ((target - now) * ONE) / gradient
      if (up === 0n && overflows(state, x, y + 1n)) return null
      if (up === 0n && product(state, x, y + 1n) > target) return y + 1n
      y += up === 0n ? 1n : up
    } else {
      const down = ((now - target) * ONE) / gradient
      if (down === 0n && (now === target || value(y - 1n) < target)) return y
      y -= down === 0n ? 1n : down
    }
    if (y < 0n) return null
  }
  return null
}

/** Largest input of a stable curve, in multiples of the reserves. Beyond it the price is below a millionth. */
const INPUT_FACTOR_MAX = 50

function curve(state: SolidlyPool, tokenIn: number, tokenOut: number) {
  const { stable, reserves, units, feePpm } = state
  const feeFactor = 1 - feePpm / 1e6
  const reserveIn = Number(reserves[tokenIn] ?? 0n)
  const reserveOut = Number(reserves[tokenOut] ?? 0n)
  if (!(reserveIn > 0) || !(reserveOut > 0)) return null
  if (!stable)
    return createCurve([{ reserveIn, reserveOut, capacity: Number.POSITIVE_INFINITY }], feeFactor, GAS_VOLATILE)
  const unitIn = Number(units[tokenIn === 0 ? 0 : 1])
  const unitOut = Number(units[tokenIn === 0 ? 1 : 0])
  const x = reserveIn / unitIn
  const y = reserveOut / unitOut
  const k = x * y * (x * x + y * y)
  const at = (amountIn: number): Point => {
    const { out, price } = stablePoint(x, y, k, (amountIn * feeFactor) / unitIn)
    return { out: out * unitOut, price: (price * feeFactor * unitOut) / unitIn }
  }
  return sampledCurve(at, (INPUT_FACTOR_MAX * Math.max(reserveIn, (y / x) * reserveIn)) / feeFactor, GAS_STABLE)
}

function stablePoint(x: number, y: number, k: number, amountIn: number): Point {
  const now = x + amountIn
  let balance = y
  for (let step = 0; step < 64 && amountIn > 0; step++) {
    const next =
      balance - (now * balance * (now * now + balance * balance) - k) / (now * (now * now + 3 * balance * balance))
    const change = Math.abs(next - balance)
    balance = next
    if (change <= 1e-16 * y) break
  }
  const price = (balance * (3 * now * now + balance * balance)) / (now * (now * now + 3 * balance * balance))
  return { out: y - balance, price }
}

export const solidly: PoolMaths<SolidlyPool> = { swap, curve }
