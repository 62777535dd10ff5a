import { divideUp } from '../../../lib/bigint.ts'
import type { PoolIdentity, PoolMaths } from '../pool.ts'
import {
  aggregateFee,
  downscale,
  inputAfterFee,
  type Scale,
  upscale,
  V2_BALANCE_MAX,
  V3_TRADE_MIN,
} from './balancer-fixed.ts'
import { sampledCurve } from './sampled-curve.ts'
import { stableInvariant, stablePoint } from './stable-float.ts'

/**
 * Balancer stable pools in the vaults of V2 (stable, meta-stable, composable) and V3. `address` is the vault. Any two tokens trade. The pool
 * token of a composable pool is not included, although the vault registers it.
 */
export type BalancerStablePool = PoolIdentity &
  Readonly<{
    kind: 'balancer-stable'
    vault: 'v2' | 'v3'
    /**
     * Version of StableMath. `up`: V2 stable and meta-stable pools of 2021, invariant rounded up. `down`: V2 pools since 2022 (stable v2,
     * composable), rounded like Curve's. `v3`: V3, which in addition multiplies by the precision before it divides.
     */
    rounding: 'up' | 'down' | 'v3'
    balances: readonly bigint[]
    scales: readonly Scale[]
    /** Amplification with three decimals: A·n^(n−1)·1000. */
    amp: bigint
    /** 10^18 = 1. */
    swapFee: bigint
    /** V3: share of the swap fee that leaves the pool; 10^18 = 1. 0 in V2. */
    aggregateFee: bigint
  }>

const AMP_ONE = 1_000n
const STEPS_MAX = 255
/** Gas of one swap through our executor contract. */
const GAS = 170_000

/** StableMath._calcOutGivenIn (V2), computeOutGivenExactIn (V3). */
function swap(state: BalancerStablePool, tokenIn: number, tokenOut: number, amountIn: bigint) {
  const { vault, balances, scales } = state
  const scaleIn = scales[tokenIn]
  const scaleOut = scales[tokenOut]
  if (scaleIn === undefined || scaleOut === undefined || tokenIn === tokenOut || amountIn <= 0n) return null
  const { netInput, fee } = inputAfterFee(amountIn, scaleIn, state.swapFee, vault)
  const before = balances.map((balance, index) => upscale(balance, scales[index] as Scale))
  if (before.some((balance) => balance <= 0n)) return null
  const invariant = state.rounding === 'up' ? invariantUp(state.amp, before) : invariantDown(state.amp, before)
  if (invariant === null) return null
  const balanceAfter = balanceOf(
    state,
    before.with(tokenIn, (before[tokenIn] as bigint) + netInput),
    invariant,
    tokenOut,
  )
  if (balanceAfter === null) return null
  const out = (before[tokenOut] as bigint) - balanceAfter - 1n
  if (out <= 0n || (vault === 'v3' && (netInput < V3_TRADE_MIN || out < V3_TRADE_MIN))) return null
  const amountOut = downscale(out, scaleOut, vault)
  if (amountOut <= 0n) return null
  if (vault === 'v2' && (balances[tokenIn] as bigint) + amountIn > V2_BALANCE_MAX) return null
  const next = balances
    .with(tokenIn, (balances[tokenIn] as bigint) + amountIn - aggregateFee(fee, scaleIn, state.aggregateFee))
    .with(tokenOut, (balances[tokenOut] as bigint) - amountOut)
  return { amountOut, next: { ...state, balances: next } }
}

/** _calculateInvariant(…, roundUp = true) of the pools of 2021. */
function invariantUp(amp: bigint, balances: readonly bigint[]): bigint | null {
  const count = BigInt(balances.length)
  const sum = balances.reduce((a, b) => a + b, 0n)
  const total = amp * count
  let invariant = sum
  for (let step = 0; step < STEPS_MAX; step++) {
    let spread = (balances[0] as bigint) * count
    for (const balance of balances.slice(1)) spread = divideUp(spread * balance * count, invariant)
    const before = invariant
    const above = count * invariant * invariant + divideUp(total * sum * spread, AMP_ONE)
    const below = (count + 1n) * invariant + ((total - AMP_ONE) * spread) / AMP_ONE
    invariant = divideUp(above, below)
    const change = invariant - before
    if (change <= 1n && change >= -1n) return invariant
  }
  return null
}

/** _calculateInvariant since 2022, computeInvariant of V3; rounds down. */
function invariantDown(amp: bigint, balances: readonly bigint[]): bigint | null {
  const count = BigInt(balances.length)
  const sum = balances.reduce((a, b) => a + b, 0n)
  const total = amp * count
  let invariant = sum
  for (let step = 0; step < STEPS_MAX; step++) {
    let spread = invariant
    for (const balance of balances) spread = (spread * invariant) / (balance * count)
    const before = invariant
    const above = ((total * sum) / AMP_ONE + spread * count) * invariant
    invariant = above / (((total - AMP_ONE) * invariant) / AMP_ONE + (count + 1n) * spread)
    const change = invariant - before
    if (change <= 1n && change >= -1n) return invariant
  }
  return null
}

/** _getTokenBalanceGivenInvariantAndAllOtherBalances; rounds up. */
function balanceOf(
  { amp, rounding }: BalancerStablePool,
  balances: readonly bigint[],
  invariant: bigint,
  tokenIndex: number,
) {
  const count = BigInt(balances.length)
  const total = amp * count
  let sum = balances[0] as bigint
  let spread = (balances[0] as bigint) * count
  for (const balance of balances.slice(1)) {
    spread = (spread * balance * count) / invariant
    sum += balance
  }
  if (spread === 0n) return null
  sum -= balances[tokenIndex] as bigint
  const square = invariant * invariant
  const multipliesFirst = rounding === 'v3'
  const c =
    (multipliesFirst ? divideUp(square * AMP_ONE, total * spread) : divideUp(square, total * spread) * AMP_ONE) *
    (balances[tokenIndex] as bigint)
  const b = sum + (multipliesFirst ? (invariant * AMP_ONE) / total : (invariant / total) * AMP_ONE)
  let balance = divideUp(square + c, invariant + b)
  for (let step = 0; step < STEPS_MAX; step++) {
    const before = balance
    const divisor = balance * 2n + b - invariant
    if (divisor <= 0n) return null
    balance = divideUp(balance * balance + c, divisor)
    const change = balance - before
    if (change <= 1n && change >= -1n) return balance
  }
  return null
}

/** Largest input of the curve, in multiples of the pool's total balance. */
const INPUT_FACTOR_MAX = 10

function curve(state: BalancerStablePool, tokenIn: number, tokenOut: number) {
  const feeFactor = 1 - Number(state.swapFee) / 1e18
  const units = state.scales.map(({ factor, rate }) => (Number(factor) * Number(rate)) / 1e36)
  const balances = state.balances.map((balance, index) => Number(balance) * (units[index] as number))
  const unitIn = units[tokenIn]
  const unitOut = units[tokenOut]
  if (unitIn === undefined || unitOut === undefined || !balances.every((balance) => balance > 0)) return null
  const ann = (Number(state.amp) / Number(AMP_ONE)) * balances.length
  const invariant = stableInvariant(balances, ann)
  const at = (amountIn: number) => {
    const { out, price } = stablePoint(balances, invariant, ann, tokenIn, tokenOut, amountIn * feeFactor * unitIn)
    return { out: out / unitOut, price: (price * feeFactor * unitIn) / unitOut }
  }
  const inputMax = (INPUT_FACTOR_MAX * balances.reduce((a, b) => a + b, 0)) / unitIn / feeFactor
  return sampledCurve(at, inputMax, GAS)
}

export const balancerStable: PoolMaths<BalancerStablePool> = { swap, curve }
