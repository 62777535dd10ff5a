import { createCurve } from '../curve.ts'
import type { PoolIdentity, PoolMaths } from '../pool.ts'
import {
  aggregateFee,
  complement,
  divDown,
  divUp,
  downscale,
  inputAfterFee,
  mulDown,
  powUp,
  type Scale,
  upscale,
  V2_BALANCE_MAX,
  V3_TRADE_MIN,
} from './balancer-fixed.ts'
import { type Point, sampledCurve } from './sampled-curve.ts'

/** Balancer weighted pools in the vaults of V2 and V3. `address` is the vault. Any two tokens trade. */
export type BalancerWeightedPool = PoolIdentity &
  Readonly<{
    kind: 'balancer-weighted'
    vault: 'v2' | 'v3'
    balances: readonly bigint[]
    scales: readonly Scale[]
    /** 10^18 = 1. */
    weights: readonly bigint[]
    /** 10^18 = 1. */
    swapFee: bigint
    /** V3: share of the swap fee that leaves the pool; 10^18 = 1. 0 in V2. */
    aggregateFee: bigint
    /**
     * Whether exponents 1, 2 and 4 are computed by multiplication: V3, and V2 pools of version 2 and later (factories since September
     * 2022).
     */
    shortcuts: boolean
  }>

/** WeightedMath._MAX_IN_RATIO: one swap takes at most 30 % of the balance. */
const IN_MAX = 3n * 10n ** 17n
/** Gas of one swap through our executor contract. */
const GAS = 115_000

/** WeightedMath._calcOutGivenIn (V2), computeOutGivenExactIn (V3): aO = bO·(1 − (bI ÷ (bI + aI))^(wI ÷ wO)). */
function swap(state: BalancerWeightedPool, tokenIn: number, tokenOut: number, amountIn: bigint) {
  const { vault, balances, scales, weights, shortcuts } = state
  const scaleIn = scales[tokenIn]
  const scaleOut = scales[tokenOut]
  const weightIn = weights[tokenIn]
  const weightOut = weights[tokenOut]
  if (scaleIn === undefined || scaleOut === undefined || weightIn === undefined || weightOut === undefined) return null
  if (tokenIn === tokenOut || amountIn <= 0n) return null
  const { netInput, fee } = inputAfterFee(amountIn, scaleIn, state.swapFee, vault)
  const balanceIn = upscale(balances[tokenIn] as bigint, scaleIn)
  const balanceOut = upscale(balances[tokenOut] as bigint, scaleOut)
  if (balanceIn === 0n || netInput > mulDown(balanceIn, IN_MAX)) return null
  const power = powUp(divUp(balanceIn, balanceIn + netInput), divDown(weightIn, weightOut), shortcuts)
  if (power === null) return null
  const out = mulDown(balanceOut, complement(power))
  if (out <= 0n || (vault === 'v3' && (netInput < V3_TRADE_MIN || out < V3_TRADE_MIN))) return null
  const amountOut = downscale(out, scaleOut, vault)
  if (amountOut <= 0n) return null
  if (vault === 'v2' && (balances[tokenIn] as bigint) + amountIn > V2_BALANCE_MAX) return null
  const next = balances
    .with(tokenIn, (balances[tokenIn] as bigint) + amountIn - aggregateFee(fee, scaleIn, state.aggregateFee))
    .with(tokenOut, (balances[tokenOut] as bigint) - amountOut)
  return { amountOut, next: { ...state, balances: next } }
}

function curve(state: BalancerWeightedPool, tokenIn: number, tokenOut: number) {
  const feeFactor = 1 - Number(state.swapFee) / 1e18
  const balanceIn = Number(state.balances[tokenIn] ?? 0n)
  const balanceOut = Number(state.balances[tokenOut] ?? 0n)
  const exponent = Number(state.weights[tokenIn]) / Number(state.weights[tokenOut])
  if (!(balanceIn > 0) || !(balanceOut > 0) || !(exponent > 0)) return null
  const inputMax = (balanceIn * 0.3) / feeFactor
  if (exponent === 1)
    return createCurve([{ reserveIn: balanceIn, reserveOut: balanceOut, capacity: inputMax }], feeFactor, GAS)
  const at = (amountIn: number): Point => {
    const logRatio = -Math.log1p((amountIn * feeFactor) / balanceIn)
    const price = ((feeFactor * balanceOut * exponent) / balanceIn) * Math.exp(logRatio * (exponent + 1))
    return { out: -balanceOut * Math.expm1(logRatio * exponent), price }
  }
  return sampledCurve(at, inputMax, GAS)
}

export const balancerWeighted: PoolMaths<BalancerWeightedPool> = { swap, curve }
