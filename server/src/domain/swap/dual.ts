import { balanceTokens } from './balance.ts'
import { type Problem, tradePair } from './problem.ts'

/*
 * The convex dual of routing without gas (Diamandis, Resnick, Chitra, Angeris: "An efficient algorithm for optimal routing
 * through constant function market makers", arXiv 2302.04938): find what each token is worth (in units of the target), so that
 * the pools, each trading against these values on its own, pass on exactly what comes in. At any values,
 *
 *     value(source) · input  +  what every pool earns at them
 *
 * is more than any route can pay; at the best values it is what the best route pays.
 *
 * We walk in the square roots of the values. There the earnings of a constant product are the square of a line, so that a
 * market of them is solved by least squares, and Newton's method ends after a few steps; other curves are hyperbolas joined,
 * and behave alike.
 */
const STEPS_MAX = 60
/** Flow that is neither spent nor earned, in parts of the bound. */
const BALANCED = 1e-11
/** Improvement, in parts of the bound, that is not worth a step. */
const SETTLED = 1e-13
const HALVES_MAX = 50
/** Where along a step the bound is least, in parts of the step. */
const EXACT = 1e-13
/** A step that improves the bound by less, while so much flow is neither spent nor earned, gets nowhere. */
const SLOW = 1e-9
const UNSETTLED = 1e-6
/** A step leaves each root at least this share of itself. */
const SHRINK_MAX = 0.05

type Work = Readonly<{
  surplus: Float64Array
  /** By token what the pools take of it, and what they pay for that, in units of the target. */
  taken: Float64Array
  paid: Float64Array
  /** Second derivative of each pair's earnings. */
  bend: Float64Array
  gradient: Float64Array
  hessian: Float64Array
  rows: Float64Array
  step: Float64Array
  before: Float64Array
}>

/** Moves `problem.value` to the best values for this input. Gives the bound: no route without gas through these pairs pays more. */
export function solveDual(problem: Problem, input: number): number {
  const size = problem.value.length
  const work: Work = {
    surplus: new Float64Array(size),
    taken: new Float64Array(size),
    paid: new Float64Array(size),
    bend: new Float64Array(problem.pairs.length),
    gradient: new Float64Array(size),
    hessian: new Float64Array(size * size),
    rows: new Float64Array(size * size),
    step: new Float64Array(size),
    before: new Float64Array(size),
  }
  let bound = evaluate(problem, input, work)
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    if (imbalance(problem, work) <= BALANCED * bound) return bound
    newtonStep(problem, work)
    takeAlong(problem, work)
    let next = descend(problem, input, work, bound)
    // Hardly a step: a token on its own stands in the way of all others.
    if (next > bound * (1 - SLOW) && imbalance(problem, work) > UNSETTLED * bound) {
      balanceTokens(problem, input)
      next = evaluate(problem, input, work)
    }
    if (next >= bound) return bound
    bound = next
  }
  return bound
}

const trade = { in: 0, out: 0, earned: 0, give: 0 }

/** The bound at the present values; fills in what is left of every token, and how the pairs bend. */
function evaluate(problem: Problem, input: number, { surplus, taken, paid, bend }: Work): number {
  const { from, to, value, arrives } = problem
  surplus.fill(0)
  taken.fill(0)
  paid.fill(0)
  surplus[0] = input
  let bound = (value[0] as number) * input
  for (let pair = 0; pair < from.length; pair++) {
    bend[pair] = 0
    tradePair(problem, pair, trade)
    if (trade.in === 0) continue
    const a = from[pair] as number
    const b = to[pair] as number
    const cost = value[a] as number
    const worth = (value[b] as number) * arrives
    surplus[a] = (surplus[a] as number) - trade.in
    surplus[b] = (surplus[b] as number) + trade.out * arrives
    taken[a] = (taken[a] as number) + trade.in
    paid[a] = (paid[a] as number) + trade.out * worth
    bound += cost * trade.earned
    bend[pair] = (4 * trade.give * cost * cost) / worth
  }
  return bound
}

/**
 * What is left of a token counts by its value; what is missing, by what the pools pay for it: of a token that nothing brings the
 * value may have fallen to next to nothing, and yet the bound is far too high.
 */
function imbalance({ value }: Problem, { surplus, taken, paid }: Work): number {
  let most = 0
  for (let token = 0; token < value.length; token++) {
    if (token === 1) continue
    const left = surplus[token] as number
    const off = left > 0 ? left * (value[token] as number) : (-left * (paid[token] as number)) / (taken[token] || 1)
    if (off > most) most = off
  }
  return most
}

/**
 * Newton's step for z, where value = (value now) · z². Gradient 2·value·surplus; second derivatives by the chain rule:
 * 4·give·cost²÷worth on both tokens of a pair, the negative between them, and the gradient itself on the diagonal.
 */
function newtonStep({ from, to, value }: Problem, work: Work): void {
  const { bend, surplus, gradient, hessian, step } = work
  const size = value.length
  hessian.fill(0)
  for (let token = 0; token < size; token++) {
    const slope = 2 * (value[token] as number) * (surplus[token] as number)
    gradient[token] = slope
    hessian[token * size + token] = slope
  }
  for (let pair = 0; pair < bend.length; pair++) {
    const by = bend[pair] as number
    if (by === 0) continue
    const a = from[pair] as number
    const b = to[pair] as number
    hessian[a * size + a] = (hessian[a * size + a] as number) + by
    hessian[b * size + b] = (hessian[b * size + b] as number) + by
    hessian[a * size + b] = (hessian[a * size + b] as number) - by
    hessian[b * size + a] = (hessian[b * size + a] as number) - by
  }
  if (solveSymmetric(work, size, 0)) return
  // Not convex here, as between the ticks of concentrated liquidity: without the tokens' own falling terms it is.
  for (let token = 0; token < size; token++) {
    const slope = gradient[token] as number
    const own = (hessian[token * size + token] as number) - slope
    // A token whose pools all stand at their ends bends nothing, but its value is to rise: at most fourfold in a step.
    if (slope < 0) hessian[token * size + token] = Math.max(own, -slope)
  }
  if (solveSymmetric(work, size, 1e-9)) return
  for (let token = 0; token < size; token++) {
    const curvature = Math.abs(hessian[token * size + token] as number) || 1
    step[token] = token === 1 ? 0 : -(gradient[token] as number) / curvature
  }
}

/**
 * A token that nothing flows through bends nothing and would stay where it is; where its neighbours go on together, its pools would
 * soon trade against them and stop the step. It goes along, as far as they do on average.
 */
function takeAlong({ from, to, value }: Problem, { bend, step }: Work): void {
  const size = value.length
  const isIdle = new Uint8Array(size).fill(1)
  isIdle[0] = isIdle[1] = 0
  for (let pair = 0; pair < bend.length; pair++)
    if ((bend[pair] as number) > 0) isIdle[from[pair] as number] = isIdle[to[pair] as number] = 0
  const sum = new Float64Array(size)
  const count = new Float64Array(size)
  for (let pair = 0; pair < bend.length; pair++) {
    const [a, b] = [from[pair] as number, to[pair] as number]
    if (isIdle[a] === isIdle[b]) continue
    const [idle, other] = isIdle[a] === 1 ? [a, b] : [b, a]
    sum[idle] = (sum[idle] as number) + (step[other] as number)
    count[idle] = (count[idle] as number) + 1
  }
  for (let token = 2; token < size; token++)
    if ((count[token] as number) > 0) step[token] = (sum[token] as number) / (count[token] as number)
}

/** H·step = −gradient without the target's row, by elimination on a copy; false where H is not positive. Idle tokens stay. */
function solveSymmetric({ hessian, rows, gradient, step }: Work, size: number, ridge: number): boolean {
  rows.set(hessian)
  let most = 0
  for (let token = 0; token < size; token++) most = Math.max(most, rows[token * size + token] as number)
  if (!(most > 0)) return false
  for (let token = 0; token < size; token++) {
    step[token] = -(gradient[token] as number)
    rows[token * size + token] = (rows[token * size + token] as number) + ridge * most
  }
  for (let pivot = 0; pivot < size; pivot++) {
    if (pivot === 1) continue
    const lead = rows[pivot * size + pivot] as number
    if (Math.abs(lead) <= 1e-15 * most) {
      rows[pivot * size + pivot] = Number.POSITIVE_INFINITY
      step[pivot] = 0
      continue
    }
    if (lead < 0) return false
    for (let row = pivot + 1; row < size; row++) {
      if (row === 1) continue
      const factor = (rows[row * size + pivot] as number) / lead
      if (factor === 0) continue
      for (let column = pivot + 1; column < size; column++)
        rows[row * size + column] =
          (rows[row * size + column] as number) - factor * (rows[pivot * size + column] as number)
      step[row] = (step[row] as number) - factor * (step[pivot] as number)
    }
  }
  for (let row = size - 1; row >= 0; row--) {
    let rest = row === 1 ? 0 : (step[row] as number)
    if (row !== 1)
      for (let column = row + 1; column < size; column++)
        rest -= (rows[row * size + column] as number) * (column === 1 ? 0 : (step[column] as number))
    step[row] = row === 1 ? 0 : rest / (rows[row * size + row] as number)
  }
  return true
}

/**
 * Goes the whole step where the bound falls by it; else to where it is least on the way. That is mostly where a pool begins to
 * trade, or stops: a hair beyond it the next step reckons with that pool, while half a step would again stop short of it.
 */
function descend(problem: Problem, input: number, work: Work, bound: number): number {
  const { value } = problem
  const { step, gradient, before } = work
  before.set(value)
  let slope = 0
  let reach = 1
  for (let token = 0; token < value.length; token++) {
    const along = step[token] as number
    slope += along * (gradient[token] as number)
    if (along < 0) reach = Math.min(reach, (SHRINK_MAX - 1) / along)
  }
  // What the step promises is lost in the bound's last digits.
  if (!(slope < -SETTLED * bound)) return bound
  const next = walk(problem, input, work, reach)
  if (next <= bound + 1e-4 * reach * slope) return next
  let near = 0
  let far = reach
  for (let halves = 0; halves < HALVES_MAX && far - near > EXACT * far; halves++) {
    const middle = (near + far) / 2
    walk(problem, input, work, middle)
    if (rises(problem, work, middle)) far = middle
    else near = middle
  }
  const least = walk(problem, input, work, far)
  return least < bound ? least : walk(problem, input, work, 0)
}

/** The bound so far along the step. */
function walk(problem: Problem, input: number, work: Work, reach: number): number {
  const { value } = problem
  const { step, before } = work
  for (let token = 0; token < value.length; token++) {
    const z = 1 + reach * (step[token] as number)
    value[token] = (before[token] as number) * z * z
  }
  return evaluate(problem, input, work)
}

/** Whether the bound rises further along the step. */
function rises({ value }: Problem, { step, surplus }: Work, reach: number): boolean {
  let slope = 0
  for (let token = 0; token < value.length; token++) {
    const along = step[token] as number
    slope += (along * (value[token] as number) * (surplus[token] as number)) / (1 + reach * along)
  }
  return slope > 0
}
