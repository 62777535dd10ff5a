/* Fee rates of Meteora DAMM v2, in parts of 10^9. */
import { divideUp, smallest, squareRoot, U64_MAX } from '../../bigint.ts'
import type { DammBaseFee, DammDynamicFee, DammPoolState, DammVolatility } from './meteora-damm-v2-accounts.ts'
import { DAMM_ERROR } from './meteora-damm-v2-error.ts'
import { addFee, FEE_PRECISION, powerOf, variableFeeRate } from './meteora-maths.ts'
import { refuseUnless } from './swap-refusal.ts'

const ONE = 1n << 64n
const BASIS_POINTS = 10_000n
/** Volatility counts bins in these units. */
const BIN_UNITS = 10_000n

type RateLimiter = Extract<DammBaseFee, { kind: 'rateLimiter' }>

/** `net` is without the fee, the other amount with it; base units. */
export type DammFeeBase = Readonly<{ amount: bigint }> | Readonly<{ net: bigint }>

/** The rate for an amount. `now` is in the pool's unit of time. */
export function findDammFeeRate(
  pool: DammPoolState,
  { aToB, now, base }: Readonly<{ aToB: boolean; now: bigint; base: DammFeeBase }>,
): bigint {
  const limiter = activeRateLimiter(pool, aToB, now)
  const baseRate = limiter === null ? baseRateAt(pool, now) : limitedRate(limiter, base)
  const { dynamicFee, volatility } = pool
  const variableRate =
    dynamicFee === null
      ? 0n
      : variableFeeRate(volatility.accumulator, dynamicFee.binStep, dynamicFee.variableFeeControl)
  return smallest(baseRate + variableRate, pool.feeRateMax)
}

/** The rate limiter if it is on: for sales of B from the activation on, as long as its duration. */
export function activeRateLimiter(
  { baseFee, activation }: DammPoolState,
  aToB: boolean,
  now: bigint,
): RateLimiter | null {
  if (baseFee.kind !== 'rateLimiter' || aToB || baseFee.reference === 0n) return null
  return now >= activation.point && now <= activation.point + baseFee.duration ? baseFee : null
}

function baseRateAt({ baseFee, activation, sqrtPrice, initialSqrtPrice }: DammPoolState, now: bigint): bigint {
  if (baseFee.kind === 'rateLimiter') return baseFee.cliff
  const elapsed = now - activation.point
  if (baseFee.kind === 'time') {
    if (baseFee.frequency === 0n) return baseFee.cliff
    return reduce(baseFee, elapsed / baseFee.frequency)
  }
  if (elapsed > baseFee.expiration) return reduce(baseFee, baseFee.periods)
  if (sqrtPrice <= initialSqrtPrice) return baseFee.cliff
  return reduce(baseFee, ((sqrtPrice - initialSqrtPrice) * BASIS_POINTS) / (initialSqrtPrice * baseFee.stepBps))
}

/** The cliff after a number of periods. `reduction` is a rate, or basis points of an exponential scheduler. */
function reduce(fee: Exclude<DammBaseFee, { kind: 'rateLimiter' }>, passed: bigint): bigint {
  const periods = smallest(passed, fee.periods)
  if (!fee.isExponential) return fee.cliff - periods * fee.reduction
  return (fee.cliff * powerOf(ONE - (fee.reduction << 64n) / BASIS_POINTS, periods)) >> 64n
}

/** Mean rate of an input, rounded up. */
function limitedRate(limiter: RateLimiter, base: DammFeeBase): bigint {
  if ('net' in base) return rateOfNet(limiter, base.net)
  if (base.amount <= limiter.reference) return limiter.cliff
  return divideUp(limitedFee(limiter, base.amount) * FEE_PRECISION, base.amount)
}

/** The fee of an input, in base units, rounded up. */
function limitedFee(limiter: RateLimiter, amount: bigint): bigint {
  const { cliff, increment, rateMax, reference } = limiter
  const whole = amount / reference
  const steps = stepsOf(limiter)
  // Tranches of the reference amount before the rate is at its maximum, the first at the cliff.
  const tranches = smallest(whole, steps + 1n)
  const rest = amount - tranches * reference
  const rate = tranches <= steps ? cliff + increment * tranches : rateMax
  const fee = reference * (cliff * tranches + (increment * tranches * (tranches - 1n)) / 2n) + rest * rate
  return divideUp(fee, FEE_PRECISION)
}

/** Increments until the maximum rate. */
const stepsOf = ({ cliff, increment, rateMax }: RateLimiter): bigint =>
  increment === 0n ? 0n : (rateMax - cliff) / increment

/*
 * The recorded swaps have no net amount above the reference. From here on to its end the rate limiter follows the program's own
 * TypeScript package, @meteora-ag/cp-amm-sdk 1.5.0 (MIT).
 */

/** Mean rate for what is left of an amount, rounded up. */
function rateOfNet(limiter: RateLimiter, net: bigint): bigint {
  const { cliff, rateMax, reference } = limiter
  if (net <= netOfRate(limiter, reference)) return cliff
  const mostTranches = (stepsOf(limiter) + 1n) * reference
  const tranches = smallest(mostTranches, U64_MAX)
  const rest = net - netOfRate(limiter, tranches)
  if (rest === 0n) return limitedRate(limiter, { amount: tranches })
  refuseUnless(rest < 0n || mostTranches <= U64_MAX, DAMM_ERROR.mathOverflow)
  const amount = rest > 0n ? tranches + addFee(rest, rateMax) : amountOfNet(limiter, net)
  return divideUp((amount - net) * FEE_PRECISION, amount)
}

/** What is left of an amount after the fee at its mean rate. */
const netOfRate = (limiter: RateLimiter, amount: bigint): bigint =>
  amount - divideUp(amount * limitedRate(limiter, { amount }), FEE_PRECISION)

/**
 * The amount that leaves `net` before the rate is at its maximum. The fee of n tranches is a square function of n; its root gives most
 * of the amount, and what it leaves short of `net` pays the rate of its tranche.
 */
function amountOfNet(limiter: RateLimiter, net: bigint): bigint {
  const { cliff, increment, reference } = limiter
  const slope = (2n * (FEE_PRECISION - cliff) + increment) * reference
  const root = squareRoot(slope ** 2n - 8n * increment * net * FEE_PRECISION * reference)
  const most = (slope - root) / (2n * increment)
  return most + addFee(net - netOfRate(limiter, most), cliff + increment * (most / reference))
}

/** Before the swap: the references after the time since the last update. */
export function decayDammVolatility(pool: DammPoolState, unixTime: bigint): DammVolatility {
  const { dynamicFee, volatility, sqrtPrice } = pool
  const elapsed = unixTime - volatility.lastUpdate
  if (dynamicFee === null || elapsed < dynamicFee.filterPeriod) return volatility
  const isRecent = elapsed < dynamicFee.decayPeriod
  const reference = isRecent ? (volatility.accumulator * dynamicFee.reductionFactor) / BASIS_POINTS : 0n
  return { ...volatility, reference, sqrtPriceReference: sqrtPrice }
}

/** After the swap to `sqrtPrice`. A move of less than one bin is no update. */
export function updateDammVolatility(
  { dynamicFee, sqrtPrice: before }: DammPoolState,
  volatility: DammVolatility,
  sqrtPrice: bigint,
  unixTime: bigint,
): DammVolatility {
  if (dynamicFee === null) return volatility
  const crossed = binsBetween(dynamicFee, volatility.sqrtPriceReference, sqrtPrice) * BIN_UNITS
  const sum = volatility.reference + crossed
  return {
    ...volatility,
    accumulator: smallest(sum, dynamicFee.accumulatorMax),
    lastUpdate: binsBetween(dynamicFee, before, sqrtPrice) > 0n ? unixTime : volatility.lastUpdate,
  }
}

/** A bin of the price is half a bin of its square root. */
function binsBetween({ binStepRatio }: DammDynamicFee, a: bigint, b: bigint): bigint {
  const [low, high] = a < b ? [a, b] : [b, a]
  return low === 0n || binStepRatio === 0n ? 0n : (((high << 64n) / low - ONE) / binStepRatio) * 2n
}
