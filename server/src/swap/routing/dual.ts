import { balanceTokens } from './balance.ts'
import { type Problem, tradePair } from './subproblem.ts'

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
/** So closely the place is looked for before it is halved out, in parts of the step: at the ends of pools all else is rounding. */
const CLOSE = 1e-11
/** Where rounding still counts, so many times farther off it is looked again. */
const WIDER = 16
/** What rounding makes of the slope along a step, in parts of the bound and of the step. */
const NOISE = 1e-11
/** A step that improves the bound by less, while so much flow is neither spent nor earned, gets nowhere. */
const SLOW = 1e-9
const UNSETTLED = 1e-6
/** Where a value fell below this share of what it was at the beginning, all that trades with it may have fallen with it. */
const FALLEN = 1e-6
const SPOT_ROUNDS = 4
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
  /** Tokens that nothing flows through, and how far their neighbours go. */
  isIdle: Uint8Array
  sum: Float64Array
  count: Float64Array
}>

function createWork(tokens: number, pairs: number): Work {
  return {
    surplus: new Float64Array(tokens),
    taken: new Float64Array(tokens),
    paid: new Float64Array(tokens),
    bend: new Float64Array(pairs),
    gradient: new Float64Array(tokens),
    hessian: new Float64Array(tokens * tokens),
    rows: new Float64Array(tokens * tokens),
    step: new Float64Array(tokens),
    before: new Float64Array(tokens),
    isIdle: new Uint8Array(tokens),
    sum: new Float64Array(tokens),
    count: new Float64Array(tokens),
  }
}

/** Used by one solution after the other, as memory costs more than most of them: each writes what it reads. */
let roomy = createWork(16, 64)

function workFor({ value, pairs }: Problem): Work {
  if (value.length > roomy.step.length || pairs.length > roomy.bend.length)
    roomy = createWork(Math.max(roomy.step.length, 2 * value.length), Math.max(roomy.bend.length, 2 * pairs.length))
  return roomy
}

/** Moves `problem.value` to the best values for this input. Gives the bound: no route without gas through these pairs pays more. */
export function solveDual(problem: Problem, input: number): number {
  const work = workFor(problem)
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

/**
 * The same from values that are far off. Where it got stuck, mostly at tokens that only circles bring any more, it begins once more
 * and the better end counts.
 */
export function solveAnew(problem: Problem, input: number): number {
  const begun = problem.value.slice()
  const bound = solveDual(problem, input)
  const isSettled = imbalance(problem, workFor(problem)) <= UNSETTLED * bound
  if (isSettled && !problem.value.some((value, token) => value < FALLEN * (begun[token] as number))) return bound
  const end = problem.value.slice()
  takeSpotValues(problem)
  const again = solveDual(problem, input)
  if (again < bound) return again
  problem.value.set(end)
  return bound
}

/** What tokens are worth by the best path before anything is traded; where none leads on, they stay as they are. */
function takeSpotValues({ from, to, best, value }: Problem): void {
  const spot = new Float64Array(value.length)
  spot[1] = 1
  for (let round = 0; round < SPOT_ROUNDS; round++)
    for (let pair = 0; pair < from.length; pair++) {
      const [a, b] = [from[pair] as number, to[pair] as number]
      spot[a] = Math.max(spot[a] as number, (spot[b] as number) * (best[pair] as number))
    }
  for (let token = 0; token < value.length; token++)
    if ((spot[token] as number) > 0) value[token] = spot[token] as number
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
  hessian.fill(0, 0, size * size)
  for (let token = 0; token < size; token++) {
    const slope = 2 * (value[token] as number) * (surplus[token] as number)
    gradient[token] = slope
    hessian[token * size + token] = slope
  }
  for (let pair = 0; pair < from.length; pair++) {
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
function takeAlong({ from, to, value }: Problem, { bend, step, isIdle, sum, count }: Work): void {
  const size = value.length
  isIdle.fill(0)
  isIdle.fill(1, 2, size)
  for (let pair = 0; pair < from.length; pair++)
    if ((bend[pair] as number) > 0) isIdle[from[pair] as number] = isIdle[to[pair] as number] = 0
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
function solveSymmetric({ hessian, rows, gradient, step }: Work, size: number, ridge: number): boolean {
  for (let place = 0; place < size * size; place++) rows[place] = hessian[place] as number
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
  let noise = 0
  for (let token = 0; token < value.length; token++) {
    const along = step[token] as number
    slope += along * (gradient[token] as number)
    noise += Math.abs(along) * NOISE * bound
    if (along < 0) reach = Math.min(reach, (SHRINK_MAX - 1) / along)
  }
  // What the step promises is lost in the bound's last digits.
  if (!(slope < -SETTLED * bound)) return bound
  const next = walk(problem, input, work, reach)
  if (next <= bound + 1e-4 * reach * slope) return next
  const least = walk(problem, input, work, leastAlong(problem, input, work, reach, slope / 2, noise))
  return least < bound ? least : walk(problem, input, work, 0)
}

/** Where a slope along the step was looked at last, and where last with one so steep that rounding cannot have told its side. */
type Side = { at: number; slope: number; sure: number }

/**
 * How far along the step, up to `reach`, the bound begins to rise: by halving, where the side that a middle lies on tells each digit.
 * Most middles need no look, as false position has bounded the place with a quarter of the looks. `begun` is half of the slope at
 * the step's beginning, `noise` what rounding makes of a slope; the problem stands at the step's end.
 */
function leastAlong(problem: Problem, input: number, work: Work, reach: number, begun: number, noise: number): number {
  const falls = { at: 0, slope: begun, sure: 0 }
  const rises = { at: reach, slope: slopeAt(problem, work, reach), sure: reach }
  const look = (at: number): Side => {
    walk(problem, input, work, at)
    const slope = slopeAt(problem, work, at)
    const side = slope > 0 ? rises : falls
    side.at = at
    side.slope = slope
    if (Math.abs(slope) > noise) side.sure = at
    return side
  }
  // Else it falls and rises more than once, as the roots of values bend it: then every middle is looked at.
  if (rises.slope > 0) enclose(falls, rises, noise, look)
  const close = CLOSE * reach
  let near = 0
  let far = reach
  for (let halves = 0; halves < HALVES_MAX && far - near > EXACT * far; halves++) {
    const middle = (near + far) / 2
    const isBeyond = middle > falls.sure - close && (middle >= rises.sure + close || look(middle) === rises)
    if (isBeyond) far = middle
    else near = middle
  }
  return far
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

/** Half of the slope of the bound along the step, where the problem stands so far along it. */
function slopeAt({ value }: Problem, { step, surplus }: Work, reach: number): number {
  let slope = 0
  for (let token = 0; token < value.length; token++) {
    const along = step[token] as number
    slope += (along * (value[token] as number) * (surplus[token] as number)) / (1 + reach * along)
  }
  return slope
}

const LOOKS_MAX = 30

/**
 * Bounds the place where the slope changes its sign, by false position (Illinois: the slope of a side that stays counts half).
 * So near to it rounding counts: out again, to where the sides are sure.
 */
function enclose(falls: Side, rises: Side, noise: number, look: (at: number) => Side): void {
  const reach = rises.at
  let place = reach
  let last: Side | null = null
  for (let looks = 0; looks < LOOKS_MAX && rises.at - falls.at > CLOSE * rises.at; looks++) {
    const next = falls.at + ((rises.at - falls.at) * falls.slope) / (falls.slope - rises.slope)
    if (!(next > falls.at && next < rises.at)) break
    place = next
    const side = look(place)
    if (Math.abs(side.slope) <= noise) break
    if (side === last) (side === falls ? rises : falls).slope /= 2
    last = side
  }
  for (let by = CLOSE * reach; falls.sure < place - by; by *= WIDER) look(place - by)
  for (let by = CLOSE * reach; rises.sure > place + by; by *= WIDER) look(place + by)
}
