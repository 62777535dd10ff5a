import { balanceTokens } from './balance.ts'
import { type Subproblem, tradePair } from './subproblem.ts'

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
const IMBALANCE_TOLERANCE = 1e-11
/** Improvement, in parts of the bound, that is not worth a step. */
const IMPROVEMENT_MIN = 1e-13
const BISECTIONS_MAX = 50
/** Where along a step the bound is least, in parts of the step. */
const BISECTION_TOLERANCE = 1e-13
/** So closely the place is looked for before it is halved out, in parts of the step: at the ends of pools all else is rounding. */
const BRACKET_TOLERANCE = 1e-11
/** Where rounding still counts, so many times farther off it is looked again. */
const WIDENING_FACTOR = 16
/** What rounding makes of the slope along a step, in parts of the bound and of the step. */
const SLOPE_NOISE = 1e-11
/** A step that improves the bound by less, while so much flow is neither spent nor earned, gets nowhere. */
const PROGRESS_MIN = 1e-9
const STALLED_IMBALANCE = 1e-6
/** Where a value fell below this share of what it was at the beginning, all that trades with it may have fallen with it. */
const COLLAPSE_FACTOR = 1e-6
const SPOT_ROUNDS = 4
/** A step leaves each root at least this share of itself. */
const ROOT_FACTOR_MIN = 0.05

type Workspace = Readonly<{
  surplus: Float64Array
  /** By token what the pools take of it, and what they pay for that, in units of the target. */
  poolInput: Float64Array
  poolOutputValue: Float64Array
  /** Second derivative of each pair's earnings. */
  bending: Float64Array
  gradient: Float64Array
  hessian: Float64Array
  matrix: Float64Array
  step: Float64Array
  previousValue: Float64Array
  /** Tokens that nothing flows through, and how far their neighbours go. */
  isIdle: Uint8Array
  sum: Float64Array
  count: Float64Array
}>

function createWorkspace(tokens: number, pairs: number): Workspace {
  return {
    surplus: new Float64Array(tokens),
    poolInput: new Float64Array(tokens),
    poolOutputValue: new Float64Array(tokens),
    bending: new Float64Array(pairs),
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

/** Used by one solution after the other, as memory costs more than most of them: each writes what it reads. */
let sharedWorkspace = createWorkspace(16, 64)

function workspaceFor({ value, pairs }: Subproblem): Workspace {
  if (value.length > sharedWorkspace.step.length || pairs.length > sharedWorkspace.bending.length)
    sharedWorkspace = createWorkspace(Math.max(sharedWorkspace.step.length, 2 * value.length), Math.max(sharedWorkspace.bending.length, 2 * pairs.length))
  return sharedWorkspace
}

/** Moves `problem.value` to the best values for this input. Gives the bound: no route without gas through these pairs pays more. */
export function solveDual(subproblem: Subproblem, input: number): number {
  const workspace = workspaceFor(subproblem)
  let bound = evaluate(subproblem, input, workspace)
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    if (imbalance(subproblem, workspace) <= IMBALANCE_TOLERANCE * bound) return bound
    newtonStep(subproblem, workspace)
    moveIdleTokens(subproblem, workspace)
    let next = lineSearch(subproblem, input, workspace, bound)
    // Hardly a step: a token on its own stands in the way of all others.
    if (next > bound * (1 - PROGRESS_MIN) && imbalance(subproblem, workspace) > STALLED_IMBALANCE * bound) {
      balanceTokens(subproblem, input)
      next = evaluate(subproblem, input, workspace)
    }
    if (next >= bound) return bound
    bound = next
  }
  return bound
}

/**
 * The same from values that are far off. Where it got stuck, mostly at tokens that only circles bring any more, it begins once more
 * and the better end counts.
 */
export function solveWithRestart(subproblem: Subproblem, input: number): number {
  const initial = subproblem.value.slice()
  const bound = solveDual(subproblem, input)
  const isConverged = imbalance(subproblem, workspaceFor(subproblem)) <= STALLED_IMBALANCE * bound
  if (isConverged && !subproblem.value.some((value, token) => value < COLLAPSE_FACTOR * (initial[token] as number))) return bound
  const end = subproblem.value.slice()
  resetToSpotValues(subproblem)
  const again = solveDual(subproblem, input)
  if (again < bound) return again
  subproblem.value.set(end)
  return bound
}

/** What tokens are worth by the best path before anything is traded; where none leads on, they stay as they are. */
function resetToSpotValues({ from, to, spotPrice, value }: Subproblem): void {
  const spot = new Float64Array(value.length)
  spot[1] = 1
  for (let round = 0; round < SPOT_ROUNDS; round++)
    for (let pair = 0; pair < from.length; pair++) {
      const [a, b] = [from[pair] as number, to[pair] as number]
      spot[a] = Math.max(spot[a] as number, (spot[b] as number) * (spotPrice[pair] as number))
    }
  for (let token = 0; token < value.length; token++)
    if ((spot[token] as number) > 0) value[token] = spot[token] as number
}

const trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/** The bound at the present values; fills in what is left of every token, and how the pairs bend. */
function evaluate(subproblem: Subproblem, input: number, { surplus, poolInput, poolOutputValue, bending }: Workspace): number {
  const { from, to, value, tollFactor } = subproblem
  surplus.fill(0)
  poolInput.fill(0)
  poolOutputValue.fill(0)
  surplus[0] = input
  let bound = (value[0] as number) * input
  for (let pair = 0; pair < from.length; pair++) {
    bending[pair] = 0
    tradePair(subproblem, pair, trade)
    if (trade.in === 0) continue
    const a = from[pair] as number
    const b = to[pair] as number
    const cost = value[a] as number
    const worth = (value[b] as number) * tollFactor
    surplus[a] = (surplus[a] as number) - trade.in
    surplus[b] = (surplus[b] as number) + trade.out * tollFactor
    poolInput[a] = (poolInput[a] as number) + trade.in
    poolOutputValue[a] = (poolOutputValue[a] as number) + trade.out * worth
    bound += cost * trade.profit
    bending[pair] = (4 * trade.sensitivity * cost * cost) / worth
  }
  return bound
}

/**
 * What is left of a token counts by its value; what is missing, by what the pools pay for it: of a token that nothing brings the
 * value may have fallen to next to nothing, and yet the bound is far too high.
 */
function imbalance({ value }: Subproblem, { surplus, poolInput, poolOutputValue }: Workspace): number {
  let most = 0
  for (let token = 0; token < value.length; token++) {
    if (token === 1) continue
    const left = surplus[token] as number
    const excess = left > 0 ? left * (value[token] as number) : (-left * (poolOutputValue[token] as number)) / (poolInput[token] || 1)
    if (excess > most) most = excess
  }
  return most
}

/**
 * Newton's step for z, where value = (value now) · z². Gradient 2·value·surplus; second derivatives by the chain rule:
 * 4·give·cost²÷worth on both tokens of a pair, the negative between them, and the gradient itself on the diagonal.
 */
function newtonStep({ from, to, value }: Subproblem, workspace: Workspace): void {
  const { bending, surplus, gradient, hessian, step } = workspace
  const size = value.length
  hessian.fill(0, 0, size * size)
  for (let token = 0; token < size; token++) {
    const slope = 2 * (value[token] as number) * (surplus[token] as number)
    gradient[token] = slope
    hessian[token * size + token] = slope
  }
  for (let pair = 0; pair < from.length; pair++) {
    const by = bending[pair] as number
    if (by === 0) continue
    const a = from[pair] as number
    const b = to[pair] as number
    hessian[a * size + a] = (hessian[a * size + a] as number) + by
    hessian[b * size + b] = (hessian[b * size + b] as number) + by
    hessian[a * size + b] = (hessian[a * size + b] as number) - by
    hessian[b * size + a] = (hessian[b * size + a] as number) - by
  }
  if (solveSymmetric(workspace, size, 0)) return
  // Not convex here, as between the ticks of concentrated liquidity: without the tokens' own falling terms it is.
  for (let token = 0; token < size; token++) {
    const slope = gradient[token] as number
    const own = (hessian[token * size + token] as number) - slope
    // A token whose pools all stand at their ends bends nothing, but its value is to rise: at most fourfold in a step.
    if (slope < 0) hessian[token * size + token] = Math.max(own, -slope)
  }
  if (solveSymmetric(workspace, size, 1e-9)) return
  for (let token = 0; token < size; token++) {
    const curvature = Math.abs(hessian[token * size + token] as number) || 1
    step[token] = token === 1 ? 0 : -(gradient[token] as number) / curvature
  }
}

/**
 * A token that nothing flows through bends nothing and would stay where it is; where its neighbours go on together, its pools would
 * soon trade against them and stop the step. It goes along, as far as they do on average.
 */
function moveIdleTokens({ from, to, value }: Subproblem, { bending, step, isIdle, sum, count }: Workspace): void {
  const size = value.length
  isIdle.fill(0)
  isIdle.fill(1, 2, size)
  for (let pair = 0; pair < from.length; pair++)
    if ((bending[pair] as number) > 0) isIdle[from[pair] as number] = isIdle[to[pair] as number] = 0
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

/** H·step = −gradient without the target's row, by elimination on a copy; false where H is not positive. Idle tokens stay. */
function solveSymmetric({ hessian, matrix, gradient, step }: Workspace, size: number, ridge: number): boolean {
  for (let place = 0; place < size * size; place++) matrix[place] = hessian[place] as number
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
 * Goes the whole step where the bound falls by it; else to where it is least on the way. That is mostly where a pool begins to
 * trade, or stops: a hair beyond it the next step reckons with that pool, while half a step would again stop short of it.
 */
function lineSearch(subproblem: Subproblem, input: number, workspace: Workspace, bound: number): number {
  const { value } = subproblem
  const { step, gradient, previousValue } = workspace
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
  // What the step promises is lost in the bound's last digits.
  if (!(slope < -IMPROVEMENT_MIN * bound)) return bound
  const next = moveAlongStep(subproblem, input, workspace, reach)
  if (next <= bound + 1e-4 * reach * slope) return next
  const minimum = moveAlongStep(subproblem, input, workspace, findMinimum(subproblem, input, workspace, reach, slope / 2, noise))
  return minimum < bound ? minimum : moveAlongStep(subproblem, input, workspace, 0)
}

/** Where a slope along the step was looked at last, and where last with one so steep that rounding cannot have told its side. */
type Side = { at: number; slope: number; reliableAt: number }

/**
 * How far along the step, up to `reach`, the bound begins to rise: by halving, where the side that a middle lies on tells each digit.
 * Most middles need no look, as false position has bounded the place with a quarter of the looks. `begun` is half of the slope at
 * the step's beginning, `noise` what rounding makes of a slope; the problem stands at the step's end.
 */
function findMinimum(subproblem: Subproblem, input: number, workspace: Workspace, reach: number, initial: number, noise: number): number {
  const falling = { at: 0, slope: initial, reliableAt: 0 }
  const rising = { at: reach, slope: slopeAt(subproblem, workspace, reach), reliableAt: reach }
  const probe = (at: number): Side => {
    moveAlongStep(subproblem, input, workspace, at)
    const slope = slopeAt(subproblem, workspace, at)
    const side = slope > 0 ? rising : falling
    side.at = at
    side.slope = slope
    if (Math.abs(slope) > noise) side.reliableAt = at
    return side
  }
  // Else it falls and rises more than once, as the roots of values bend it: then every middle is looked at.
  if (rising.slope > 0) bracketMinimum(falling, rising, noise, probe)
  const tolerance = BRACKET_TOLERANCE * reach
  let near = 0
  let far = reach
  for (let bisections = 0; bisections < BISECTIONS_MAX && far - near > BISECTION_TOLERANCE * far; bisections++) {
    const middle = (near + far) / 2
    const isBeyond = middle > falling.reliableAt - tolerance && (middle >= rising.reliableAt + tolerance || probe(middle) === rising)
    if (isBeyond) far = middle
    else near = middle
  }
  return far
}

/** The bound so far along the step. */
function moveAlongStep(subproblem: Subproblem, input: number, workspace: Workspace, reach: number): number {
  const { value } = subproblem
  const { step, previousValue } = workspace
  for (let token = 0; token < value.length; token++) {
    const z = 1 + reach * (step[token] as number)
    value[token] = (previousValue[token] as number) * z * z
  }
  return evaluate(subproblem, input, workspace)
}

/** Half of the slope of the bound along the step, where the problem stands so far along it. */
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
 * Bounds the place where the slope changes its sign, by false position (Illinois: the slope of a side that stays counts half).
 * So near to it rounding counts: out again, to where the sides are sure.
 */
function bracketMinimum(falling: Side, rising: Side, noise: number, probe: (at: number) => Side): void {
  const reach = rising.at
  let place = reach
  let last: Side | null = null
  for (let probes = 0; probes < PROBES_MAX && rising.at - falling.at > BRACKET_TOLERANCE * rising.at; probes++) {
    const next = falling.at + ((rising.at - falling.at) * falling.slope) / (falling.slope - rising.slope)
    if (!(next > falling.at && next < rising.at)) break
    place = next
    const side = probe(place)
    if (Math.abs(side.slope) <= noise) break
    if (side === last) (side === falling ? rising : falling).slope /= 2
    last = side
  }
  for (let by = BRACKET_TOLERANCE * reach; falling.reliableAt < place - by; by *= WIDENING_FACTOR) probe(place - by)
  for (let by = BRACKET_TOLERANCE * reach; rising.reliableAt > place + by; by *= WIDENING_FACTOR) probe(place + by)
}
