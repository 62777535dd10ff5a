import { type Trade, tradeTo } from './curve.ts'
import { curveAt } from './market.ts'
import type { Use } from './order-swaps.ts'
import { type Subproblem, tradeAt } from './subproblem.ts'

/*
 * The dual (`dual.ts`) of routing over paths of limited length: each token has one node per number of hops from the source. Every unit of
 * flow counts the hops of its own path, so paths may join and split, and a pool may be the second swap of one path and the third of another.
 *
 * The dual price ν(token, hops) does not increase with the hops, because flow that needed fewer hops may still take any longer path. A pool
 * a → b with curve f whose inputs as swap number 2 … k sum to X_k, X₂ ≤ X₃ ≤ …, pays at most f(X_k) for them, because f is concave and
 * earlier swaps are served first. By summation by parts its profit is at most the sum over k of
 *
 *     (ν(b, k) − ν(b, k + 1))·f(X_k) − (ν(a, k − 1) − ν(a, k))·X_k
 *
 * Each term is an ordinary trade at differences of prices. If the optimal X_k were not increasing, neighbouring terms are merged into one
 * trade at the sums of their differences. The variables are therefore these differences, all positive. Newton's method with a logarithmic
 * barrier minimizes the bound; it ends with a balanced flow within `precision` of the optimum.
 */

/** The barrier's weight decreases by this factor. */
const WEIGHT_FACTOR = 0.03
const STEPS_MAX = 120
/** Newton decrement, relative to the barrier's weight, at which the weight is reduced; smaller at the final weight. */
const DECREMENT_MAX = 0.3
const FINAL_DECREMENT_MAX = 1e-4
/** A step reduces no variable to less than this share of itself. */
const VARIABLE_FACTOR_MIN = 0.02
const BISECTIONS_MAX = 40
/** The line search ends when the slope is below this share of the initial slope. */
const SLOPE_TOLERANCE = 0.1
/** A gain below this share of the output is ignored. */
const NEGLIGIBLE = 1e-9
/** Least start value of a variable, relative to the token's price: the barrier is infinite at zero. */
const VARIABLE_MIN = 1e-14
/** A swap below this share of the total flow is dropped. */
const DUST = 1e-10

type Model = Readonly<{
  subproblem: Subproblem
  amount: number
  hops: number
  /** By token, the unit of its variables, in units of the target; 1 for the target. */
  units: Float64Array
  /** Index of each token's first variable: ν(1) − ν(2), then ν(2) − ν(3), …. The source has a single variable. */
  first: Int32Array
  /** Scratch memory of `visitTrades`. */
  costs: readonly Span[]
  worths: readonly Span[]
  firstHops: Int32Array
}>

/** Sum of the variables in [from, until) times the token's unit; 1 for the target, which has no variables. */
type Span = { token: number; from: number; until: number; value: number }

/** Called once per trade of a pair at the price cost ÷ worth, for the cumulative input up to swap number `hop`. */
type Visit = (pair: number, hop: number, cost: Span, worth: Span) => void

type Point = Readonly<{ bound: number; gradient: Float64Array }>

/** An existing flow whose prices are the start: `price` is the marginal price of each pair after it, `output` what it pays. */
export type ReferenceFlow = Readonly<{ price: (pair: number) => number; output: number }>

/** The model at the prices of a reference flow. Paths have up to `hops` swaps, at least 3. */
type InitialPoint = Readonly<{
  model: Model
  x: Float64Array
  /** Duality gap: the most that any such flow can pay more than the reference, relative to the bound. */
  gap: number
}>

/** Whether the reference flow's own prices prove that no flow of paths of up to `hops` swaps pays more. */
export const isOptimalWithinHops = (
  subproblem: Subproblem,
  amount: number,
  hops: number,
  reference: ReferenceFlow,
): boolean => createInitialPoint(subproblem, amount, hops, reference).gap <= 0

function createInitialPoint(
  subproblem: Subproblem,
  amount: number,
  hops: number,
  reference: ReferenceFlow,
): InitialPoint {
  // If cycles yield free tokens, prices carry no information and may be zero.
  const units = subproblem.value.map((value) => (value > 0 ? value : 1))
  units[0] = reference.output / amount
  const size = (units.length - 2) * (hops - 1) + 1
  const first = new Int32Array(units.length)
  for (const [position, token] of orderByDegree(subproblem).entries()) first[token] = position * (hops - 1)
  first[0] = size - 1
  const scratch = { costs: spans(hops), worths: spans(hops), firstHops: new Int32Array(hops) }
  const model: Model = { subproblem, amount, hops, units, first, ...scratch }
  const x = firstValues(model, reference)
  return { model, x, gap: 1 - (reference.output * (1 + NEGLIGIBLE)) / evaluate(model, x, null).bound }
}

/** The tokens other than source and target, those with the fewest pairs first. */
function orderByDegree({ from, to, tokens }: Subproblem): readonly number[] {
  const degree = new Int32Array(tokens.length)
  for (const ends of [from, to]) for (const token of ends) degree[token] = (degree[token] as number) + 1
  const order = Array.from({ length: tokens.length - 2 }, (_, index) => index + 2)
  return order.sort((a, b) => (degree[a] as number) - (degree[b] as number) || a - b)
}

/** `precision`: the sum of all barrier terms at the end. Both numbers are relative to the bound. */
type SolveOptions = Readonly<{ least: number; precision: number; isOver: () => boolean }>

export type HopLimitedFlow = Readonly<{ bound: number; uses: readonly Use[] }>

/** The best flow of paths of up to `hops` swaps, or null if it pays no more than the reference and `least`, relative to its output. */
export function solveWithinHops(
  subproblem: Subproblem,
  amount: number,
  hops: number,
  reference: ReferenceFlow,
  { least, precision, isOver }: SolveOptions,
): HopLimitedFlow | null {
  const { model, x, gap } = createInitialPoint(subproblem, amount, hops, reference)
  if (!(gap > least)) return null
  for (let n = 0; n < x.length; n++) x[n] = Math.max(x[n] as number, gap)
  const bound = solve(model, x, gap, { precision, isOver })
  if (!(bound > reference.output * (1 + NEGLIGIBLE))) return null
  return { bound, uses: usesOf(model, x, bound) }
}

/**
 * Marginal worth of each token after each number of hops, by the reference flow's prices, as differences. At these prices the bound proves
 * the flow optimal if it is.
 */
function firstValues({ subproblem, hops, units, first }: Model, { price }: ReferenceFlow): Float64Array {
  const { pairs, from, to } = subproblem
  const prices = Float64Array.from(pairs, (_, pair) => price(pair))
  let later = new Float64Array(units.length)
  const values = [later]
  for (let hop = hops - 1; hop >= 0; hop--) {
    const now = Float64Array.from(later)
    later[1] = now[1] = 1
    for (let pair = 0; pair < prices.length; pair++) {
      const a = from[pair] as number
      if ((a === 0) === (hop === 0))
        now[a] = Math.max(now[a] as number, (later[to[pair] as number] as number) * (prices[pair] as number))
    }
    values.unshift(now)
    later = now
  }
  const x = new Float64Array((first[0] as number) + 1)
  const rise = (token: number, hop: number) =>
    ((values[hop]?.[token] ?? 0) - (values[hop + 1]?.[token] ?? 0)) / (units[token] as number)
  for (let token = 2; token < units.length; token++)
    for (let hop = 1; hop < hops; hop++)
      x[(first[token] as number) + hop - 1] = Math.max(VARIABLE_MIN, rise(token, hop))
  x[first[0] as number] = (values[0]?.[0] ?? 0) / (units[0] as number)
  return x
}

const spans = (count: number): Span[] =>
  Array.from({ length: count }, () => ({ token: 0, from: 0, until: 0, value: 0 }))

function setSpan(
  span: Span,
  { units, first }: Model,
  x: Float64Array,
  token: number,
  from: number,
  until: number,
): void {
  span.token = token
  span.from = (first[token] as number) + from
  span.until = (first[token] as number) + until
  let total = token === 1 ? 1 : 0
  for (let n = span.from; n < span.until; n++) total += x[n] as number
  span.value = total * (units[token] as number)
}

/** Visits every trade at x. The spans are valid only during the visit. */
function visitTrades(model: Model, x: Float64Array, visit: Visit): void {
  const { subproblem, hops, costs, worths, firstHops } = model
  const { pairs, from, to } = subproblem
  for (let pair = 0; pair < pairs.length; pair++) {
    const a = from[pair] as number
    const b = to[pair] as number
    let count = 0
    if (a === 0 || b === 1) {
      firstHops[0] = a === 0 ? 1 : hops
      setSpan(costs[0] as Span, model, x, a, a === 0 ? 0 : hops - 2, a === 0 ? 1 : hops - 1)
      setSpan(worths[0] as Span, model, x, b, 0, b === 1 ? 0 : hops - 1)
      count = 1
    } else {
      for (let hop = 2; hop < hops; hop++) {
        firstHops[count] = hop
        setSpan(costs[count] as Span, model, x, a, hop - 2, hop === hops - 1 ? hop : hop - 1)
        setSpan(worths[count] as Span, model, x, b, hop - 1, hop)
        count++
        // X_k must not decrease with k: merge this trade with the previous one.
        while (count > 1 && mergeInto(costs, worths, count - 2)) count--
      }
    }
    for (let n = 0; n < count; n++) visit(pair, firstHops[n] as number, costs[n] as Span, worths[n] as Span)
  }
}

function mergeInto(costs: readonly Span[], worths: readonly Span[], index: number): boolean {
  const [cost, worth] = [costs[index] as Span, worths[index] as Span]
  const [nextCost, nextWorth] = [costs[index + 1] as Span, worths[index + 1] as Span]
  if (cost.value * nextWorth.value >= nextCost.value * worth.value) return false
  cost.until = nextCost.until
  cost.value += nextCost.value
  worth.until = nextWorth.until
  worth.value += nextWorth.value
  return true
}

const trade: Trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/** The bound at x and its gradient. Writes the lower half of `hessian` if given. */
function evaluate(model: Model, x: Float64Array, hessian: Float64Array | null): Point {
  const { subproblem, amount, units } = model
  const size = x.length
  const gradient = new Float64Array(size)
  hessian?.fill(0)
  const sourceUnits = amount * (units[0] as number)
  gradient[size - 1] = sourceUnits
  let bound = sourceUnits * (x[size - 1] as number)
  visitTrades(model, x, (pair, _hop, cost, worth) => {
    tradeAt(subproblem, pair, cost.value / worth.value, trade)
    if (trade.in === 0) return
    bound += trade.profit * cost.value
    const [unit, other] = [units[cost.token] as number, units[worth.token] as number]
    for (let n = cost.from; n < cost.until; n++) gradient[n] = (gradient[n] as number) - unit * trade.in
    for (let n = worth.from; n < worth.until; n++) gradient[n] = (gradient[n] as number) + other * trade.out
    if (hessian === null || trade.sensitivity === 0) return
    const by = trade.sensitivity / worth.value
    const across = (-other * cost.value) / worth.value
    addToHessian(hessian, size, cost, cost, by * unit * unit)
    addToHessian(hessian, size, worth, worth, by * across * across)
    if (cost.from > worth.from) addToHessian(hessian, size, cost, worth, by * unit * across)
    else addToHessian(hessian, size, worth, cost, by * unit * across)
  })
  return { bound, gradient }
}

function addToHessian(hessian: Float64Array, size: number, rows: Span, columns: Span, by: number): void {
  for (let row = rows.from; row < rows.until; row++)
    for (let column = columns.from; column < columns.until && column <= row; column++)
      hessian[row * size + column] = (hessian[row * size + column] as number) + by
}

/** Gradient of bound plus barrier in variable n. */
const slopeOf = (gradient: Float64Array, x: Float64Array, weight: number, n: number): number =>
  (gradient[n] as number) + weight * (1 - 1 / (x[n] as number))

/** Slope of bound plus barrier along a step. */
function slopeAlong(step: Float64Array, gradient: Float64Array, x: Float64Array, weight: number): number {
  let total = 0
  for (let n = 0; n < x.length; n++) total += (step[n] as number) * slopeOf(gradient, x, weight, n)
  return total
}

/**
 * Newton's step of the bound plus the barrier `weight · (x − log x)` of every variable, by Cholesky decomposition. Each row of the lower half
 * begins with its first nonzero entry: tokens with few neighbours have the first rows (`orderByDegree`), so most entries are never visited.
 */
function newtonStep(hessian: Float64Array, gradient: Float64Array, x: Float64Array, weight: number): Float64Array {
  const size = x.length
  const lower = hessian.slice()
  const step = new Float64Array(size)
  const begins = new Int32Array(size)
  for (let row = 0; row < size; row++) {
    const start = row * size
    let begin = 0
    while (begin < row && lower[start + begin] === 0) begin++
    begins[row] = begin
    lower[start + row] = (lower[start + row] as number) * (1 + 1e-12) + weight / (x[row] as number) ** 2
    let value = -slopeOf(gradient, x, weight, row)
    for (let column = begin; column <= row; column++) {
      const other = column * size
      let rest = lower[start + column] as number
      for (let k = Math.max(begin, begins[column] as number); k < column; k++)
        rest -= (lower[start + k] as number) * (lower[other + k] as number)
      lower[start + column] =
        row === column ? Math.sqrt(Math.max(rest, Number.MIN_VALUE)) : rest / (lower[other + column] as number)
    }
    for (let k = begin; k < row; k++) value -= (lower[start + k] as number) * (step[k] as number)
    step[row] = value / (lower[start + row] as number)
  }
  for (let row = size - 1; row >= 0; row--) {
    const value = (step[row] as number) / (lower[row * size + row] as number)
    step[row] = value
    for (let k = begins[row] as number; k < row; k++)
      step[k] = (step[k] as number) - (lower[row * size + k] as number) * value
  }
  return step
}

/** Minimizes the bound over x and returns it. */
function solve(
  model: Model,
  x: Float64Array,
  gap: number,
  { precision, isOver }: Pick<SolveOptions, 'precision' | 'isOver'>,
): number {
  const size = x.length
  const hessian = new Float64Array(size * size)
  let point = evaluate(model, x, hessian)
  let weight = (gap * point.bound) / size
  for (let steps = 0; steps < STEPS_MAX && !isOver(); steps++) {
    const least = (precision * point.bound) / size
    for (;;) {
      const step = newtonStep(hessian, point.gradient, x, weight)
      const slope = slopeAlong(step, point.gradient, x, weight)
      if (slope < 0 && -slope >= (weight > least ? DECREMENT_MAX : FINAL_DECREMENT_MAX) * weight) {
        point = lineSearch(model, x, { step, slope, weight }, hessian)
        break
      }
      if (!(weight > least)) return point.bound
      weight = Math.max(weight * WEIGHT_FACTOR, least)
    }
  }
  return point.bound
}

type Step = Readonly<{ step: Float64Array; slope: number; weight: number }>

/** Takes the whole step, or bisects to approximately the minimum of bound plus barrier along it. Returns the point there. */
function lineSearch(model: Model, x: Float64Array, { step, slope, weight }: Step, hessian: Float64Array): Point {
  let high = 1
  for (let n = 0; n < x.length; n++)
    if ((step[n] as number) < 0)
      high = Math.min(high, ((VARIABLE_FACTOR_MIN - 1) * (x[n] as number)) / (step[n] as number))
  const initial = x.slice()
  const move = (reach: number) => {
    for (let n = 0; n < x.length; n++) x[n] = (initial[n] as number) + reach * (step[n] as number)
  }
  move(high)
  const whole = evaluate(model, x, hessian)
  let rise = slopeAlong(step, whole.gradient, x, weight)
  if (rise <= -SLOPE_TOLERANCE * slope) return whole
  for (
    let low = 0, iteration = 0;
    Math.abs(rise) > -SLOPE_TOLERANCE * slope && iteration < BISECTIONS_MAX;
    iteration++
  ) {
    const middle = (low + high) / 2
    move(middle)
    rise = slopeAlong(step, evaluate(model, x, null).gradient, x, weight)
    if (rise > 0) high = middle
    else low = middle
  }
  return evaluate(model, x, hessian)
}

/** Input and output of each edge per swap number, in base units. */
function usesOf(model: Model, x: Float64Array, bound: number): readonly Use[] {
  const { subproblem, units } = model
  const { market, banned } = subproblem
  const uses: Use[] = []
  const cumulative = new Map<number, { amountIn: number; amountOut: number }>()
  visitTrades(model, x, (pair, hop, cost, worth) => {
    const price = cost.value / worth.value
    const number = subproblem.pairs[pair] as number
    for (let edge = market.firstEdge[number] as number; edge < (market.firstEdge[number + 1] as number); edge++) {
      if (banned.has(edge)) continue
      trade.in = trade.out = trade.profit = trade.sensitivity = 0
      tradeTo(curveAt(market, edge), price, Math.sqrt(price), trade)
      const previous = cumulative.get(edge) ?? { amountIn: 0, amountOut: 0 }
      const [amountIn, amountOut] = [trade.in - previous.amountIn, trade.out - previous.amountOut]
      const earning = trade.profit * cost.value
      if (amountIn * (units[cost.token] as number) <= DUST * bound) continue
      cumulative.set(edge, { amountIn: trade.in, amountOut: trade.out })
      uses.push({ edge, hop, from: cost.token, to: worth.token, amountIn, amountOut, earning })
    }
  })
  return uses
}
