/*
 * The adaptive fee of Algebra versions 1 and 2, which the first swap of each second updates: the sum of two sigmoids of the last day's
 * volatility; in version 1 a third sigmoid scales it by the traded volume. Same integer arithmetic as AdaptiveFee.sol, DataStorage.sol and
 * DataStorageOperator.sol of both versions.
 */

/** Parameters of the fee, as `feeConfig()` returns them. Fees in millionths. `volume` exists only in version 1. */
export type FeeTerms = Readonly<{
  alpha1: bigint
  alpha2: bigint
  beta1: bigint
  beta2: bigint
  gamma1: bigint
  gamma2: bigint
  volume: Readonly<{ beta: bigint; gamma: bigint }> | null
  base: bigint
}>

/** Accumulators of the pool's history (timepoints): one entry, or the interpolation between two. Time in Unix seconds. */
export type Moment = Readonly<{ tickSum: bigint; volatility: bigint; volume: bigint }>
export type Timepoint = Moment & Readonly<{ time: number; averageTick: bigint /** Version 2. */; tick: bigint }>

/** State that determines the fee of the next swap. */
export type FeeMemory = Readonly<{
  terms: FeeTerms
  /** Current tick of the pool. */
  tick: bigint
  last: Timepoint
  /** The entry before `last`, or null if there is only one entry. */
  before: Timepoint | null
  oldest: Timepoint
  /** Version 1: volume ÷ liquidity since the last entry; the next entry includes it. */
  pendingVolume: bigint
  /** Accumulators at the start of each possible window: one day before a swap, by time. */
  starts: ReadonlyMap<number, Moment>
}>

/** Length of the window, DataStorage.WINDOW. */
export const FEE_WINDOW_S = 86_400

/**
 * Forecast fee, in millionths, of the first swap at `time`, which is after the last entry. Null if `starts` lacks the time one day
 * before.
 */
export function nextFee(memory: FeeMemory, time: number): number | null {
  const { last, before, oldest, tick, terms } = memory
  const start = time - FEE_WINDOW_S
  const isYoung = oldest.time > start
  const isStale = last.time <= start
  const dayBefore = isYoung || isStale ? null : (memory.starts.get(start) ?? null)
  if (!isYoung && !isStale && dayBefore === null) return null
  const slopeBefore = before === null ? tick : slope(before, last)
  const average = isYoung
    ? last.time === oldest.time
      ? tick
      : slope(oldest, last)
    : dayBefore === null
      ? slopeBefore
      : (last.tickSum - dayBefore.tickSum) / BigInt(last.time - start)
  const delta = BigInt(time - last.time)
  const isVersion1 = terms.volume !== null
  const tickBefore = isVersion1 ? slopeBefore : last.tick
  const added = volatilityOnRange(delta, tickBefore, tick, last.averageTick, average)
  const next: Moment = {
    tickSum: last.tickSum + tick * delta,
    volatility: BigInt.asUintN(88, last.volatility + added),
    volume: BigInt.asUintN(144, last.volume + memory.pendingVolume),
  }
  if (isYoung) return feeBetween(terms, oldest, next, youngWindow(terms, time - oldest.time))
  const from = dayBefore ?? between(last, next, delta, BigInt(start - last.time))
  return feeBetween(terms, from, next, BigInt(FEE_WINDOW_S))
}

/** Fee that the last entry set, in millionths: the pool must report this fee now. Null if `starts` lacks the time one day before it. */
export function lastFee({ terms, last, oldest, starts }: FeeMemory): number | null {
  const start = last.time - FEE_WINDOW_S
  if (oldest.time > start) return feeBetween(terms, oldest, last, youngWindow(terms, last.time - oldest.time))
  const dayBefore = starts.get(start)
  return dayBefore === undefined ? null : feeBetween(terms, dayBefore, last, BigInt(FEE_WINDOW_S))
}

/** Divisor in seconds for a history of less than a day. Version 2 counts one second less. */
function youngWindow({ volume }: FeeTerms, seconds: number): bigint {
  return BigInt(volume === null && seconds > 1 ? seconds - 1 : seconds)
}

function feeBetween(terms: FeeTerms, from: Moment, to: Moment, seconds: bigint): number {
  const volatility = seconds === 0n ? 0n : BigInt.asUintN(88, to.volatility - from.volatility) / seconds / 15n
  const { alpha1, alpha2, beta1, beta2, gamma1, gamma2, base, volume } = terms
  const sigmoid = volume === null ? sigmoidV2 : sigmoidV1
  const sum = sigmoid(volatility, gamma1, alpha1, beta1) + sigmoid(volatility, gamma2, alpha2, beta2)
  if (volume === null) return Number(base + sum)
  const traded = seconds === 0n ? 0n : BigInt.asUintN(144, to.volume - from.volume) >> 57n
  return Number(base + sigmoidV1(traded, volume.gamma, sum, volume.beta))
}

/** Mean tick between two entries (time-weighted average). */
const slope = (from: Timepoint, to: Timepoint): bigint => (to.tickSum - from.tickSum) / BigInt(to.time - from.time)

/** Linear interpolation, `part` seconds after the first of two entries that are `whole` seconds apart. */
function between(from: Moment, to: Moment, unit: bigint, part: bigint): Moment {
  const at = (a: bigint, b: bigint) => a + ((b - a) / unit) * part
  return {
    tickSum: at(from.tickSum, to.tickSum),
    volatility: at(from.volatility, to.volatility),
    volume: at(from.volume, to.volume),
  }
}

/** DataStorage._volatilityOnRange: sum of squares of tick − average over dt seconds, both interpolated linearly. */
function volatilityOnRange(dt: bigint, tick0: bigint, tick1: bigint, average0: bigint, average1: bigint): bigint {
  const k = tick1 - tick0 - (average1 - average0)
  const b = (tick0 - average0) * dt
  const sequence = dt * (dt + 1n)
  const squares = sequence * (2n * dt + 1n)
  return (k * k * squares + 6n * b * k * sequence + 6n * dt * b * b) / (6n * dt * dt)
}

/** AdaptiveFee.sigmoid: alpha ÷ (1 + e^((beta − x) ÷ g)). `exp` returns the exponential times g^power. */
function sigmoidOf(exp: (x: bigint, g: bigint) => bigint, power: bigint) {
  return (x: bigint, g: bigint, alpha: bigint, beta: bigint): bigint => {
    const isAbove = x > beta
    const distance = isAbove ? x - beta : beta - x
    if (distance >= 6n * g) return isAbove ? alpha : 0n
    const unit = g ** power
    const exponential = exp(distance, g)
    return isAbove ? (alpha * exponential) / (unit + exponential) : (alpha * unit) / (unit + exponential)
  }
}

/** AdaptiveFee.exp of version 1: e^(x ÷ g) · g^8 by a Taylor series of degree 8. */
function expV1(x: bigint, g: bigint): bigint {
  let sum = g ** 8n
  let factorial = 1n
  for (let term = 1n; term <= 6n; term++) {
    factorial *= term
    sum += (x ** term * g ** (8n - term)) / factorial
  }
  return sum + (x ** 7n * g) / 5_040n + x ** 8n / 40_320n
}

const E20 = 10n ** 20n
/** Powers of e, and √e, times 10^20, with the contract's digits. */
const POWERS = [
  100_000_000_000_000_000_000n,
  271_828_182_845_904_523_536n,
  738_905_609_893_065_022_723n,
  2_008_553_692_318_766_774_092n,
  5_459_815_003_314_423_907_811n,
  14_841_315_910_257_660_342_111n,
] as const
const ROOT_OF_E = 164_872_127_070_012_814_684n

/** AdaptiveFee.expXg4 of version 2: e^(x ÷ g) · g^4, by a power of √e and a Taylor series of the remainder. */
function expV2(exponent: bigint, g: bigint): bigint {
  const steps = exponent / g
  let power: bigint = POWERS[steps > 5n ? 5 : Number(steps)] ?? 0n
  let x = exponent % g
  if (x >= g / 2n) {
    x -= g / 2n
    power = (power * ROOT_OF_E) / E20
  }
  const series = g ** 4n + x * g ** 3n + (x * x * g * g) / 2n + (x ** 3n * g * 4n + x ** 4n) / 24n
  return (series * power) / E20
}

const sigmoidV1 = sigmoidOf(expV1, 8n)
const sigmoidV2 = sigmoidOf(expV2, 4n)
