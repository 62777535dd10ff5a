import { balanceTokens } from './balance.ts'
import { type Subproblem, tradePair } from './subproblem.ts'

/*
 * The Lagrangian dual of routing without gas (Diamandis, Resnick, Chitra, Angeris: "An efficient algorithm for optimal routing through
 * constant function market makers", arXiv 2302.04938). Every token has a dual price ν (`value`), in units of the target per base unit;
 * ν(target) = 1. At given prices every pool makes the trade of maximum profit. For any prices,
 *
 *     ν(source) · input  +  Σ maximum profit of each pool
 *
 * is an upper bound of the output of all routes. At its minimum it equals the output of the best route, and every token except the target
 * has zero surplus. Newton's method minimizes it in z = √ν: in z the profit of a constant product is the square of a linear function, so a
 * market of constant products is a least-squares problem. Other curves consist of hyperbolas and behave alike.
 */
const STEPS_MAX = 60
/** Imbalance (`imbalance`) at which the solution is accepted, relative to the bound. */
const BALANCE_TOLERANCE = 1e-11
/** A step with a smaller predicted improvement, relative to the bound, is not taken. */
const IMPROVEMENT_MIN = 1e-13
const BISECTIONS_MAX = 50
/** Precision of the line search, relative to the step. */
const BISECTION_TOLERANCE = 1e-13
/** Relative bracket at which false position ends and bisection takes over; below it the slope is dominated by rounding. */
const BRACKET_WIDTH = 1e-11
/** Factor by which the bracket is widened while rounding may have given a slope the wrong sign. */
const WIDENING_FACTOR = 16
/** Rounding error of the slope along a step, relative to the bound and to the step. */
const SLOPE_NOISE = 1e-11
/** Newton's method has stalled if a step improves the bound by a smaller share and the imbalance is above `STALLED_IMBALANCE`. */
const PROGRESS_MIN = 1e-9
const STALLED_IMBALANCE = 1e-6
/** A dual price below this share of the spot price has collapsed, possibly with the prices of all tokens that it trades with. */
const COLLAPSE_FACTOR = 1e-6
const SPOT_ROUNDS = 4
/** A step reduces no root to less than this share of itself. */
const ROOT_FACTOR_MIN = 0.05

type Workspace = Readonly<{
  surplus: Float64Array
  /** By token, the total input of all pools that sell it, in its base units, and the value of their output, in units of the target. */
  outflow: Float64Array
  proceeds: Float64Array
  /** By pair, the second derivative of its profit in the roots. */
  curvature: Float64Array
  gradient: Float64Array
  hessian: Float64Array
  matrix: Float64Array
  step: Float64Array
  previousValue: Float64Array
  /** Tokens without flow, and the sum and number of their neighbours' steps. */
  isIdle: Uint8Array
  sum: Float64Array
  count: Float64Array
}>

function createWorkspace(tokens: number, pairs: number): Workspace {
  return {
    surplus: new Float64Array(tokens),
    outflow: new Float64Array(tokens),
    proceeds: new Float64Array(tokens),
    curvature: new Float64Array(pairs),
    gradient: new Float64Array(tokens),
    hessian: new Float64Array(tokens * tokens),
    matrix: new Float64Array(tokens * tokens),
    step: new Float64Array(tokens),
    previousValue: new Float64Array(tokens),
    isIdle: new Uint8Array(tokens),
    sum: new Float64Array(tokens),
    count: new Float64Array(tokens),
  }
}

/** Shared by all solutions, because allocation costs more than most of them. Each solution writes what it reads. */
let buffers = createWorkspace(16, 64)

function workspaceFor({ value, pairs }: Subproblem): Workspace {
  if (value.length > buffers.step.length || pairs.length > buffers.curvature.length)
    buffers = createWorkspace(
      Math.max(buffers.step.length, 2 * value.length),
      Math.max(buffers.curvature.length, 2 * pairs.length),
    )
  return buffers
}

/** Minimizes the bound over `subproblem.value` and returns it: no route through these pairs pays more before gas. */
export function solveDual(subproblem: Subproblem, input: number): number {
  const work = workspaceFor(subproblem)
  let bound = evaluate(subproblem, input, work)
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    if (imbalance(subproblem, work) <= BALANCE_TOLERANCE * bound) return bound
    newtonStep(subproblem, work)
    moveIdleTokens(subproblem, work)
    let next = lineSearch(subproblem, input, work, bound)
    // Stalled: the price of a single token blocks the step of all others.
    if (next > bound * (1 - PROGRESS_MIN) && imbalance(subproblem, work) > STALLED_IMBALANCE * bound) {
      balanceTokens(subproblem, input)
      next = evaluate(subproblem, input, work)
    }
    if (next >= bound) return bound
    bound = next
  }
  return bound
}

/**
 * `solveDual` for start values far from the solution. If the result is unbalanced or a price has collapsed (of tokens that only receive
 * flow from cycles, or of a path that was full before further pools were added), solves again from spot prices and keeps the lower bound.
 */
export function solveWithRestart(subproblem: Subproblem, input: number): number {
  const bound = solveDual(subproblem, input)
  const isConverged = imbalance(subproblem, workspaceFor(subproblem)) <= STALLED_IMBALANCE * bound
  const spot = spotValues(subproblem)
  // Not compared with the start values: they may have collapsed before, and the surplus of worthless tokens shows no imbalance.
  if (isConverged && !subproblem.value.some((value, token) => value < COLLAPSE_FACTOR * (spot[token] as number)))
    return bound
  const end = subproblem.value.slice()
  for (const [token, value] of spot.entries()) if (value > 0) subproblem.value[token] = value
  const again = solveDual(subproblem, input)
  if (again < bound) return again
  subproblem.value.set(end)
  return bound
}

/** By token, the product of spot prices along the best path to the target; 0 without such a path. */
function spotValues({ from, to, spotPrice, value }: Subproblem): Float64Array {
  const spot = new Float64Array(value.length)
  spot[1] = 1
  for (let round = 0; round < SPOT_ROUNDS; round++)
    for (let pair = 0; pair < from.length; pair++) {
      const [a, b] = [from[pair] as number, to[pair] as number]
      spot[a] = Math.max(spot[a] as number, (spot[b] as number) * (spotPrice[pair] as number))
    }
  return spot
}

const trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/** Returns the bound at the current prices. Fills in the surplus of every token and the second derivative of every pair. */
function evaluate(subproblem: Subproblem, input: number, { surplus, outflow, proceeds, curvature }: Workspace): number {
  const { from, to, value, tollFactor } = subproblem
  surplus.fill(0)
  outflow.fill(0)
  proceeds.fill(0)
  surplus[0] = input
  let bound = (value[0] as number) * input
  for (let pair = 0; pair < from.length; pair++) {
    curvature[pair] = 0
    tradePair(subproblem, pair, trade)
    if (trade.in === 0) continue
    const a = from[pair] as number
    const b = to[pair] as number
    const cost = value[a] as number
    const worth = (value[b] as number) * tollFactor
    surplus[a] = (surplus[a] as number) - trade.in
    surplus[b] = (surplus[b] as number) + trade.out * tollFactor
    outflow[a] = (outflow[a] as number) + trade.in
    proceeds[a] = (proceeds[a] as number) + trade.out * worth
    bound += cost * trade.profit
    curvature[pair] = (4 * trade.sensitivity * cost * cost) / worth
  }
  return bound
}

/**
 * Largest imbalance of any token except the target, in units of the target. A surplus counts at the dual price, a deficit at the price that
 * pools pay for the token: without inflow the dual price of a token may be almost zero while the bound is far too high.
 */
function imbalance({ value }: Subproblem, { surplus, outflow, proceeds }: Workspace): number {
  let most = 0
  for (let token = 0; token < value.length; token++) {
    if (token === 1) continue
    const left = surplus[token] as number
    const excess =
      left > 0 ? left * (value[token] as number) : (-left * (proceeds[token] as number)) / (outflow[token] || 1)
    if (excess > most) most = excess
  }
  return most
}

/**
 * Newton's step in z, where ν = ν(current) · z². The gradient is 2·ν·surplus. The chain rule gives, per pair a → b with cost ν(a) and
 * worth ν(b), second derivatives of 4·sensitivity·cost²÷worth on both diagonal entries, the negative off the diagonal, and adds the
 * gradient itself on the diagonal.
 */
function newtonStep({ from, to, value }: Subproblem, work: Workspace): void {
  const { curvature, surplus, gradient, hessian, step } = work
  const size = value.length
  hessian.fill(0, 0, size * size)
  for (let token = 0; token < size; token++) {
    const slope = 2 * (value[token] as number) * (surplus[token] as number)
    gradient[token] = slope
    hessian[token * size + token] = slope
  }
  for (let pair = 0; pair < from.length; pair++) {
    const by = curvature[pair] as number
    if (by === 0) continue
    const a = from[pair] as number
    const b = to[pair] as number
    hessian[a * size + a] = (hessian[a * size + a] as number) + by
    hessian[b * size + b] = (hessian[b * size + b] as number) + by
    hessian[a * size + b] = (hessian[a * size + b] as number) - by
    hessian[b * size + a] = (hessian[b * size + a] as number) - by
  }
  if (solveSymmetric(work, size, 0)) return
  // Not convex here, as between the ticks of concentrated liquidity. Dropping the negative gradient terms makes it convex.
  for (let token = 0; token < size; token++) {
    const slope = gradient[token] as number
    const own = (hessian[token * size + token] as number) - slope
    // If all pools of a token are at capacity, it has no curvature although its price must rise: by at most a factor of four per step.
    if (slope < 0) hessian[token * size + token] = Math.max(own, -slope)
  }
  if (solveSymmetric(work, size, 1e-9)) return
  for (let token = 0; token < size; token++) {
    const diagonal = Math.abs(hessian[token * size + token] as number) || 1
    step[token] = token === 1 ? 0 : -(gradient[token] as number) / diagonal
  }
}

/**
 * A token without flow has no curvature and would keep its price. If its neighbours' prices moved together, its pools would begin to trade
 * against them and stop the step. So it takes the mean step of its neighbours.
 */
function moveIdleTokens({ from, to, value }: Subproblem, { curvature, step, isIdle, sum, count }: Workspace): void {
  const size = value.length
  isIdle.fill(0)
  isIdle.fill(1, 2, size)
  for (let pair = 0; pair < from.length; pair++)
    if ((curvature[pair] as number) > 0) isIdle[from[pair] as number] = isIdle[to[pair] as number] = 0
  if (!isIdle.includes(1)) return
  sum.fill(0)
  count.fill(0)
  for (let pair = 0; pair < from.length; pair++) {
    const a = from[pair] as number
    const b = to[pair] as number
    if (isIdle[a] === isIdle[b]) continue
    const idle = isIdle[a] === 1 ? a : b
    const other = isIdle[a] === 1 ? b : a
    sum[idle] = (sum[idle] as number) + (step[other] as number)
    count[idle] = (count[idle] as number) + 1
  }
  for (let token = 2; token < size; token++)
    if ((count[token] as number) > 0) step[token] = (sum[token] as number) / (count[token] as number)
}

/**
 * Solves H·step = −gradient without the target's row by elimination on a copy. Tokens without curvature get no step. False if H is not
 * positive definite.
 */
function solveSymmetric({ hessian, matrix, gradient, step }: Workspace, size: number, ridge: number): boolean {
  for (let index = 0; index < size * size; index++) matrix[index] = hessian[index] as number
  let most = 0
  for (let token = 0; token < size; token++) most = Math.max(most, matrix[token * size + token] as number)
  if (!(most > 0)) return false
  for (let token = 0; token < size; token++) {
    step[token] = -(gradient[token] as number)
    matrix[token * size + token] = (matrix[token * size + token] as number) + ridge * most
  }
  for (let pivot = 0; pivot < size; pivot++) {
    if (pivot === 1) continue
    const lead = matrix[pivot * size + pivot] as number
    if (Math.abs(lead) <= 1e-15 * most) {
      matrix[pivot * size + pivot] = Number.POSITIVE_INFINITY
      step[pivot] = 0
      continue
    }
    if (lead < 0) return false
    for (let row = pivot + 1; row < size; row++) {
      if (row === 1) continue
      const factor = (matrix[row * size + pivot] as number) / lead
      if (factor === 0) continue
      for (let column = pivot + 1; column < size; column++)
        matrix[row * size + column] =
          (matrix[row * size + column] as number) - factor * (matrix[pivot * size + column] as number)
      step[row] = (step[row] as number) - factor * (step[pivot] as number)
    }
  }
  for (let row = size - 1; row >= 0; row--) {
    let rest = row === 1 ? 0 : (step[row] as number)
    if (row !== 1)
      for (let column = row + 1; column < size; column++)
        rest -= (matrix[row * size + column] as number) * (column === 1 ? 0 : (step[column] as number))
    step[row] = row === 1 ? 0 : rest / (matrix[row * size + row] as number)
  }
  return true
}

/**
 * Takes the whole step if the bound decreases enough (Armijo's condition), otherwise moves to the minimum along the step. That is mostly a
 * kink where a pool begins or ends to trade: the next step takes this pool into account, while half a step would stop short of it again.
 */
function lineSearch(subproblem: Subproblem, input: number, work: Workspace, bound: number): number {
  const { value } = subproblem
  const { step, gradient, previousValue } = work
  previousValue.set(value)
  let slope = 0
  let reach = 1
  let noise = 0
  for (let token = 0; token < value.length; token++) {
    const along = step[token] as number
    slope += along * (gradient[token] as number)
    noise += Math.abs(along) * SLOPE_NOISE * bound
    if (along < 0) reach = Math.min(reach, (ROOT_FACTOR_MIN - 1) / along)
  }
  // The predicted improvement is below the precision of the bound.
  if (!(slope < -IMPROVEMENT_MIN * bound)) return bound
  const next = moveTo(subproblem, input, work, reach)
  if (next <= bound + 1e-4 * reach * slope) return next
  const minimum = moveTo(subproblem, input, work, findMinimum(subproblem, input, work, reach, slope / 2, noise))
  return minimum < bound ? minimum : moveTo(subproblem, input, work, 0)
}

/** End of a bracket: the last position and its slope, and the last position whose slope was too steep for rounding to change its sign. */
type Side = { at: number; slope: number; certain: number }

/**
 * Position along the step, up to `reach`, at which the bound begins to increase, found by bisection. Most midpoints need no evaluation,
 * because false position has bracketed the minimum before, with a quarter of the evaluations. `initialSlope` is half of the slope at the
 * start of the step, `noise` the rounding error of a slope. On entry the subproblem is at the end of the step.
 */
function findMinimum(
  subproblem: Subproblem,
  input: number,
  work: Workspace,
  reach: number,
  initialSlope: number,
  noise: number,
): number {
  const falling = { at: 0, slope: initialSlope, certain: 0 }
  const rising = { at: reach, slope: slopeAt(subproblem, work, reach), certain: reach }
  const probe = (at: number): Side => {
    moveTo(subproblem, input, work, at)
    const slope = slopeAt(subproblem, work, at)
    const side = slope > 0 ? rising : falling
    side.at = at
    side.slope = slope
    if (Math.abs(slope) > noise) side.certain = at
    return side
  }
  // Otherwise the bound is not convex along the step in the roots, and bisection evaluates every midpoint.
  if (rising.slope > 0) bracketMinimum(falling, rising, noise, probe)
  const tolerance = BRACKET_WIDTH * reach
  let low = 0
  let high = reach
  for (let iteration = 0; iteration < BISECTIONS_MAX && high - low > BISECTION_TOLERANCE * high; iteration++) {
    const middle = (low + high) / 2
    const isBeyond =
      middle > falling.certain - tolerance && (middle >= rising.certain + tolerance || probe(middle) === rising)
    if (isBeyond) high = middle
    else low = middle
  }
  return high
}

/** Sets the prices to position `reach` along the step and returns the bound. */
function moveTo(subproblem: Subproblem, input: number, work: Workspace, reach: number): number {
  const { value } = subproblem
  const { step, previousValue } = work
  for (let token = 0; token < value.length; token++) {
    const z = 1 + reach * (step[token] as number)
    value[token] = (previousValue[token] as number) * z * z
  }
  return evaluate(subproblem, input, work)
}

/** Half of the slope of the bound along the step, at the position `reach` that the prices are at. */
function slopeAt({ value }: Subproblem, { step, surplus }: Workspace, reach: number): number {
  let slope = 0
  for (let token = 0; token < value.length; token++) {
    const along = step[token] as number
    slope += (along * (value[token] as number) * (surplus[token] as number)) / (1 + reach * along)
  }
  return slope
}

const PROBES_MAX = 30

/**
 * Brackets the sign change of the slope by false position (Illinois variant: the slope of the end that stays is halved). Close to the root
 * rounding decides the sign, so the bracket is then widened until both ends are reliable.
 */
function bracketMinimum(falling: Side, rising: Side, noise: number, probe: (at: number) => Side): void {
  const reach = rising.at
  let estimate = reach
  let last: Side | null = null
  for (let probes = 0; probes < PROBES_MAX && rising.at - falling.at > BRACKET_WIDTH * rising.at; probes++) {
    const next = falling.at + ((rising.at - falling.at) * falling.slope) / (falling.slope - rising.slope)
    if (!(next > falling.at && next < rising.at)) break
    estimate = next
    const side = probe(estimate)
    if (Math.abs(side.slope) <= noise) break
    if (side === last) (side === falling ? rising : falling).slope /= 2
    last = side
  }
  for (let by = BRACKET_WIDTH * reach; falling.certain < estimate - by; by *= WIDENING_FACTOR) probe(estimate - by)
  for (let by = BRACKET_WIDTH * reach; rising.certain > estimate + by; by *= WIDENING_FACTOR) probe(estimate + by)
}
