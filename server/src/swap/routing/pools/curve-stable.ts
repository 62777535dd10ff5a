import type { PoolIdentity, PoolMaths } from '../pool.ts'
import { type Point, sampledCurve } from './sampled-curve.ts'
import { stableInvariant, stablePoint } from './stable-float.ts'

/** Curve StableSwap: plain pools of all versions, and StableSwap-NG plain pools. Any two tokens trade. */
export type CurveStablePool = PoolIdentity &
  Readonly<{
    kind: 'curve-stable'
    balances: readonly bigint[]
    /** Per token, the factor to the common unit with 18 decimals, times 10^18: 10^(36 − decimals), times the token's rate if it has one. */
    rates: readonly bigint[]
    /** Amplification A in the block of the swap, in the contract's precision: `A_precise()`, or `A()` of the oldest pools. */
    amp: bigint
    /** Precision of `amp`: 100, or 1 for the oldest pools. */
    ampPrecision: bigint
    /** Fee on the output, in parts of 10^10. */
    fee: bigint
    /** Protocol's share of the fee, in parts of 10^10. It leaves the pool's balances. */
    adminFee: bigint
    /** StableSwap-NG: off-peg fee multiplier, in parts of 10^10. Null: the fee does not depend on the balances. */
    offPegFee: bigint | null
    /**
     * How get_D computes D^(n+1)÷(n^n·Πx). `stepwise` divides by x·n for each token; `at-once` divides by n^n at the end (NG, and two-token
     * pools of earlier factories).
     */
    invariant: 'stepwise' | 'at-once'
  }>

const ONE = 10n ** 18n
const FEE_ONE = 10n ** 10n
const STEPS_MAX = 255
/** Gas of one swap through our executor contract. */
const GAS = 150_000

/** exchange() of the pool templates: `dy = xp[j] − y − 1`, less the fee on it, converted to the token's base units. */
function swap(state: CurveStablePool, tokenIn: number, tokenOut: number, amountIn: bigint) {
  const { balances, rates, adminFee } = state
  const rateIn = rates[tokenIn]
  const rateOut = rates[tokenOut]
  if (rateIn === undefined || rateOut === undefined || tokenIn === tokenOut || amountIn <= 0n) return null
  const before = balances.map((balance, index) => (balance * (rates[index] as bigint)) / ONE)
  if (before.some((balance) => balance <= 0n)) return null
  const invariant = invariantOf(state, before)
  const x = (before[tokenIn] as bigint) + (amountIn * rateIn) / ONE
  const y = invariant === null ? null : balanceOf(state, before.with(tokenIn, x), tokenOut, invariant)
  if (y === null) return null
  const grossOutput = (before[tokenOut] as bigint) - y - 1n
  if (grossOutput <= 0n) return null
  const share = feeAt(state, ((before[tokenIn] as bigint) + x) / 2n, ((before[tokenOut] as bigint) + y) / 2n)
  const fee = (grossOutput * share) / FEE_ONE
  const amountOut = ((grossOutput - fee) * ONE) / rateOut
  if (amountOut <= 0n) return null
  const adminUnits = (((fee * adminFee) / FEE_ONE) * ONE) / rateOut
  const next = balances
    .with(tokenIn, (balances[tokenIn] as bigint) + amountIn)
    .with(tokenOut, (balances[tokenOut] as bigint) - amountOut - adminUnits)
  return { amountOut, next: { ...state, balances: next } }
}

/** _dynamic_fee of StableSwap-NG, at the balances halfway through the swap. */
function feeAt({ fee, offPegFee }: CurveStablePool, balanceIn: bigint, out: bigint): bigint {
  if (offPegFee === null || offPegFee <= FEE_ONE) return fee
  return (offPegFee * fee) / (((offPegFee - FEE_ONE) * 4n * balanceIn * out) / (balanceIn + out) ** 2n + FEE_ONE)
}

/** get_D of the pool's current state. */
export function invariantNow(state: CurveStablePool): bigint | null {
  const units = state.balances.map((balance, index) => (balance * (state.rates[index] ?? 0n)) / ONE)
  return units.every((unit) => unit > 0n) ? invariantOf(state, units) : null
}

/** get_D. Null if the iteration does not converge and the contract reverts. */
function invariantOf({ amp, ampPrecision, invariant }: CurveStablePool, xp: readonly bigint[]): bigint | null {
  const count = BigInt(xp.length)
  const sum = xp.reduce((a, b) => a + b, 0n)
  const ann = amp * count
  let d = sum
  for (let step = 0; step < STEPS_MAX; step++) {
    let spread = d
    for (const x of xp) spread = (spread * d) / (invariant === 'stepwise' ? x * count : x)
    if (invariant === 'at-once') spread /= count ** count
    const before = d
    d =
      (((ann * sum) / ampPrecision + spread * count) * d) /
      (((ann - ampPrecision) * d) / ampPrecision + (count + 1n) * spread)
    const change = d - before
    if (change <= 1n && change >= -1n) return d
  }
  return null
}

/** get_y: the balance of token `tokenIndex` that restores the invariant. */
function balanceOf(
  { amp, ampPrecision }: CurveStablePool,
  xp: readonly bigint[],
  tokenIndex: number,
  d: bigint,
): bigint | null {
  const count = BigInt(xp.length)
  const ann = amp * count
  let sum = 0n
  let c = d
  for (const [index, x] of xp.entries()) {
    if (index === tokenIndex) continue
    sum += x
    c = (c * d) / (x * count)
  }
  c = (c * d * ampPrecision) / (ann * count)
  const b = sum + (d * ampPrecision) / ann
  let y = d
  for (let step = 0; step < STEPS_MAX; step++) {
    const before = y
    const divisor = 2n * y + b - d
    if (divisor <= 0n) return null
    y = (y * y + c) / divisor
    const change = y - before
    if (change <= 1n && change >= -1n) return y
  }
  return null
}

/** Largest input of the curve, in multiples of the pool's total balance. */
const INPUT_FACTOR_MAX = 10

function curve(state: CurveStablePool, tokenIn: number, tokenOut: number) {
  const units = state.rates.map((rate) => Number(rate) / 1e18)
  const balances = state.balances.map((balance, index) => Number(balance) * (units[index] as number))
  const unitIn = units[tokenIn]
  const unitOut = units[tokenOut]
  if (unitIn === undefined || unitOut === undefined || !balances.every((balance) => balance > 0)) return null
  const ann = (Number(state.amp) / Number(state.ampPrecision)) * balances.length
  const invariant = stableInvariant(balances, ann)
  const at = (amountIn: number): Point => {
    const scaledInput = amountIn * unitIn
    const { out, price } = stablePoint(balances, invariant, ann, tokenIn, tokenOut, scaledInput)
    const halfway = [(balances[tokenIn] as number) + scaledInput / 2, (balances[tokenOut] as number) - out / 2] as const
    const { feeFactor, change } = feeFactorAt(state, halfway, price)
    return { out: (out * feeFactor) / unitOut, price: ((price * feeFactor + out * change) * unitIn) / unitOut }
  }
  const inputMax = (INPUT_FACTOR_MAX * balances.reduce((a, b) => a + b, 0)) / unitIn
  return sampledCurve(at, inputMax, GAS)
}

/** 1 − the fee at these balances, and its derivative by the input at the marginal price `price`. */
function feeFactorAt({ fee, offPegFee }: CurveStablePool, [a, b]: readonly [number, number], price: number) {
  const flat = Number(fee) / 1e10
  if (offPegFee === null || offPegFee <= FEE_ONE) return { feeFactor: 1 - flat, change: 0 }
  const off = Number(offPegFee) / 1e10
  const balanceRatio = (4 * a * b) / (a + b) ** 2
  const balanceRatioSlope = (2 * (a - b) * (a * -price - b)) / (a + b) ** 3
  const divisor = (off - 1) * balanceRatio + 1
  return { feeFactor: 1 - (off * flat) / divisor, change: (off * flat * (off - 1) * balanceRatioSlope) / divisor ** 2 }
}

export const curveStable: PoolMaths<CurveStablePool> = { swap, curve }
