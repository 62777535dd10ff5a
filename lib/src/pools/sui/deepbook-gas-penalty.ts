/* The penalty of DeepBook v3 for unusually high gas prices: a moving mean and variance of the gas price of trades. */
import { DEEPBOOK_SCALE, divide, multiply, scaledRoot } from './deepbook-math.ts'

export type GasPriceState = Readonly<{
  /** Scaled by 10^9, as all rates here. */
  mean: bigint
  variance: bigint
  /** Weight of a new price. */
  alpha: bigint
  /** Standard deviations above the mean from which the penalty applies. */
  zScoreThreshold: bigint
  /** What the penalty adds to the taker fee. */
  additionalTakerFee: bigint
  lastUpdatedMs: bigint
  isEnabled: boolean
}>

/** Adds the gas price of a transaction; at most one per timestamp. */
export function addGasPrice(state: GasPriceState, gasPrice: bigint, timestampMs: bigint): GasPriceState {
  if (timestampMs === state.lastUpdatedMs) return state
  const { alpha } = state
  const rest = DEEPBOOK_SCALE - alpha
  const distance = distanceToMean(state, gasPrice)
  const squared = multiply(distance, distance)
  const variance = state.variance === 0n ? squared : multiply(state.variance, rest) + multiply(alpha, squared)
  const mean = multiply(alpha, gasPrice * DEEPBOOK_SCALE) + multiply(rest, state.mean)
  return { ...state, mean, variance, lastUpdatedMs: timestampMs }
}

/** Standard deviations between a gas price and the mean, scaled by 10^9. */
export function zScore(state: GasPriceState, gasPrice: bigint): bigint {
  if (state.variance === 0n) return 0n
  return divide(distanceToMean(state, gasPrice), scaledRoot(state.variance, DEEPBOOK_SCALE))
}

/** What the gas price adds to the taker fee. */
export function gasPricePenalty(state: GasPriceState, gasPrice: bigint): bigint {
  const isAbove = state.isEnabled && gasPrice * DEEPBOOK_SCALE >= state.mean
  return isAbove && zScore(state, gasPrice) > state.zScoreThreshold ? state.additionalTakerFee : 0n
}

function distanceToMean({ mean }: GasPriceState, gasPrice: bigint): bigint {
  const scaled = gasPrice * DEEPBOOK_SCALE
  return scaled > mean ? scaled - mean : mean - scaled
}
