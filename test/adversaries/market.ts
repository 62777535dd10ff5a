import { createRandom, type Random } from '../support/random.ts'

/** A drawn price of one asset in dollars over one day. */
export type PricePath = Readonly<{
  /** Dollars at a number of milliseconds after the start; constant within a step. */
  at(ms: number): number
  stepMs: number
  endMs: number
}>

export type PathOptions = Readonly<{
  seed: number
  startUsd: number
  /** Standard deviation of the logarithm of the price over a year. */
  yearlyVolatility: number
  jumpsPerDay: number
  /** Standard deviation of the logarithm of a jump. */
  jumpSize: number
}>

const STEP_MS = 5_000
const DAY_MS = 86_400_000
const STEPS_PER_YEAR = (365 * DAY_MS) / STEP_MS

/** Geometric Brownian motion with jumps at random times (Merton, 1976), without drift. The same seed gives the same path. */
export function drawPath({ seed, startUsd, yearlyVolatility, jumpsPerDay, jumpSize }: PathOptions): PricePath {
  const random = createRandom(seed)
  const steps = DAY_MS / STEP_MS
  const prices = new Float64Array(steps + 1)
  const stepVolatility = yearlyVolatility / Math.sqrt(STEPS_PER_YEAR)
  let logarithm = Math.log(startUsd)
  for (let n = 0; n <= steps; n++) {
    prices[n] = Math.exp(logarithm)
    logarithm += stepVolatility * normal(random) - stepVolatility ** 2 / 2
    if (random.next() < jumpsPerDay / steps) logarithm += jumpSize * normal(random)
  }
  return { at: (ms) => prices[Math.min(Math.floor(ms / STEP_MS), steps)] as number, stepMs: STEP_MS, endMs: DAY_MS }
}

/** A standard normal number (Box and Muller, 1958). */
function normal({ next }: Random): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
}
