import { type Trade, tradeTo } from './curve.ts'
import { curveAt } from './market.ts'
import { type OrderedSwaps, orderSwaps, type Use } from './order-swaps.ts'
import { type Subproblem, tradeAt } from './subproblem.ts'

/*
 * The dual (`dual.ts`) of routing over paths of so many hops at most: every token stands once for each number of hops that it
 * is away from the source. A unit of flow is counted by its own path, so paths may join and part again, and a pool may be the
 * second swap of one path and the third of another.
 *
 * The value v(token, hops) falls with the hops, for who is early may wait. What a pool takes as second swap goes first: of all
 * it takes up to swap k it pays f(X₂), f(X₃), … in all, and f is concave, so that nobody can be served better together. With
 * X₂ ≤ X₃ ≤ … it earns at most the sum over k of
 *
 *     (v(b, k) − v(b, k + 1))·f(X_k) − (v(a, k − 1) − v(a, k))·X_k
 *
 * each of which is an ordinary trade at these differences; where the X_k would fall, neighbours are one trade at the sum.
 * Variables are therefore the differences, all positive: Newton's method with a logarithmic barrier, which ends with a flow
 * that is balanced, and within `BARRIER` of the best.
 */

/** What all barriers weigh together in the end, in parts of the bound. */
const BARRIER_TOLERANCE = 1e-10
const WEIGHT_FACTOR = 0.1
const STEPS_MAX = 120
/** Newton's decrement, in parts of the barrier's weight, at which it becomes lighter; in the end it is balanced better. */
const DECREMENT_MAX = 0.3
const FINAL_DECREMENT_MAX = 1e-4
/** A step leaves each variable at least this share of itself. */
const VARIABLE_FACTOR_MIN = 0.02
const BISECTIONS_MAX = 40
/** Slope, in parts of that at its beginning, at which a step has come far enough. */
const SLOPE_TOLERANCE = 0.1
/** What is no gain, in parts of the output. */
const NEGLIGIBLE = 1e-9
/** A token that is worth the same a hop later is worth this share more: the barrier knows no zero. */
const VARIABLE_MIN = 1e-14
/** Below this share of all that flows a swap is dust. */
const DUST = 1e-10

type Model = Readonly<{
  subproblem: Subproblem
  amount: number
  hops: number
  /** By token the value that variables are counted in; the target's is 1. */
  units: Float64Array
  /** The first variable of each token: what it is worth more at one hop than at two, and so on. Of the source there is one. */
  first: Int32Array
  /** For `visitTrades`. */
  costs: readonly Span[]
  worths: readonly Span[]
  begun: Int32Array
}>

/** Sum of the variables from … until, times the token's unit; of the target, which has none, 1. */
type Span = { token: number; from: number; until: number; value: number }

/** Trades of one pair at the price cost ÷ worth: all that goes in up to and as `hop`-th swap. */
type Visit = (pair: number, hop: number, cost: Span, worth: Span) => void

type Point = Readonly<{ bound: number; gradient: Float64Array }>

/** A flow that is known, at whose values it begins: `price` of a further unit of each pair, and what it pays. */
export type ReferenceFlow = Readonly<{ price: (pair: number) => number; paid: number }>

/** Paths of up to `hops` swaps (3 at least) in which a flow that is known is looked at. */
type InitialPoint = Readonly<{
  model: Model
  x: Float64Array
  /** What they may pay more, in parts of the bound. */
  gap: number
}>

/** Whether, by its own prices, no flow of paths of so many swaps pays more. */
export const isOptimalWithinHops = (subproblem: Subproblem, amount: number, hops: number, reference: ReferenceFlow): boolean =>
  createInitialPoint(subproblem, amount, hops, reference).gap <= 0

function createInitialPoint(subproblem: Subproblem, amount: number, hops: number, reference: ReferenceFlow): InitialPoint {
  // Where free tokens come out of circles the values say nothing, and may have fallen to nothing.
  const units = subproblem.value.map((value) => (value > 0 ? value : 1))
  units[0] = reference.paid / amount
  const size = (units.length - 2) * (hops - 1) + 1
  const first = Int32Array.from(units, (_, token) => (token === 0 ? size - 1 : (token - 2) * (hops - 1)))
  const scratch = { costs: spans(hops), worths: spans(hops), begun: new Int32Array(hops) }
  const model: Model = { subproblem, amount, hops, units, first, ...scratch }
  const x = firstValues(model, reference)
  return { model, x, gap: 1 - (reference.paid * (1 + NEGLIGIBLE)) / evaluate(model, x, null).bound }
}

/** The best flow of such paths; null where it pays no more than the one that is known. */
export function routeWithinHops(
  subproblem: Subproblem,
  amount: number,
  hops: number,
  reference: ReferenceFlow,
  isOver: () => boolean,
): OrderedSwaps | null {
  const { model, x, gap } = createInitialPoint(subproblem, amount, hops, reference)
  if (!(gap > 0)) return null
  for (let n = 0; n < x.length; n++) x[n] = Math.max(x[n] as number, gap)
  const bound = solve(model, x, gap, isOver)
  if (!(bound > reference.paid * (1 + NEGLIGIBLE))) return null
  return orderSwaps(usesOf(model, x, bound), subproblem.value.length)
}

/** What a further unit of each token brings after so many hops, in differences. Where this flow is the best, they say so. */
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
    for (let hop = 1; hop < hops; hop++) x[(first[token] as number) + hop - 1] = Math.max(VARIABLE_MIN, rise(token, hop))
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

/** All that may trade at x. The spans hold during the visit alone. */
function visitTrades(model: Model, x: Float64Array, visit: Visit): void {
  const { subproblem, hops, costs, worths, begun } = model
  for (let pair = 0; pair < subproblem.pairs.length; pair++) {
    const a = subproblem.from[pair] as number
    const b = subproblem.to[pair] as number
    let count = 0
    const push = (hop: number, from: number, until: number, worthFrom: number, worthUntil: number) => {
      setSpan(costs[count] as Span, model, x, a, from, until)
      setSpan(worths[count] as Span, model, x, b, worthFrom, worthUntil)
      begun[count++] = hop
    }
    if (a === 0) push(1, 0, 1, 0, b === 1 ? 0 : hops - 1)
    else if (b === 1) push(hops, hops - 2, hops - 1, 0, 0)
    else {
      for (let hop = 2; hop < hops; hop++) {
        push(hop, hop - 2, hop === hops - 1 ? hop : hop - 1, hop - 1, hop)
        // What would take less in all than the hop before goes together with it, all of it by then.
        while (count > 1 && mergeInto(costs, worths, count - 2)) count--
      }
    }
    for (let n = 0; n < count; n++) visit(pair, begun[n] as number, costs[n] as Span, worths[n] as Span)
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

/** The bound at x, and its slopes; `hessian` is filled in (its lower half) where it is given. */
function evaluate(model: Model, x: Float64Array, hessian: Float64Array | null): Point {
  const { subproblem, amount, units } = model
  const size = x.length
  const gradient = new Float64Array(size)
  const begun = amount * (units[0] as number)
  gradient[size - 1] = begun
  let bound = begun * (x[size - 1] as number)
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

/** With the barrier's own. */
const slopeOf = (gradient: Float64Array, x: Float64Array, weight: number, n: number): number =>
  (gradient[n] as number) + weight * (1 - 1 / (x[n] as number))

/** Slope along a step. */
function slopeAlong(step: Float64Array, gradient: Float64Array, x: Float64Array, weight: number): number {
  let total = 0
  for (let n = 0; n < x.length; n++) total += (step[n] as number) * slopeOf(gradient, x, weight, n)
  return total
}

/** Newton's step for the bound and the barrier `weight · (x − log x)` of every variable, by Cholesky's method. */
function newtonStep(hessian: Float64Array, gradient: Float64Array, x: Float64Array, weight: number): Float64Array {
  const size = x.length
  const lower = Float64Array.from(hessian)
  const step = new Float64Array(size)
  for (let row = 0; row < size; row++) {
    const start = row * size
    lower[start + row] = (lower[start + row] as number) * (1 + 1e-12) + weight / (x[row] as number) ** 2
    let value = -slopeOf(gradient, x, weight, row)
    for (let column = 0; column <= row; column++) {
      const other = column * size
      let rest = lower[start + column] as number
      for (let k = 0; k < column; k++) rest -= (lower[start + k] as number) * (lower[other + k] as number)
      lower[start + column] =
        row === column ? Math.sqrt(Math.max(rest, Number.MIN_VALUE)) : rest / (lower[other + column] as number)
    }
    for (let k = 0; k < row; k++) value -= (lower[start + k] as number) * (step[k] as number)
    step[row] = value / (lower[start + row] as number)
  }
  for (let row = size - 1; row >= 0; row--) {
    const value = (step[row] as number) / (lower[row * size + row] as number)
    step[row] = value
    for (let k = 0; k < row; k++) step[k] = (step[k] as number) - (lower[row * size + k] as number) * value
  }
  return step
}

/** Moves x to the best values; gives the bound. */
function solve(model: Model, x: Float64Array, gap: number, isOver: () => boolean): number {
  const size = x.length
  const hessian = new Float64Array(size * size)
  let weight = 0
  for (let steps = 0; ; steps++) {
    hessian.fill(0)
    const { bound, gradient } = evaluate(model, x, hessian)
    if (steps === 0) weight = (gap * bound) / size
    if (steps === STEPS_MAX || isOver()) return bound
    const least = (BARRIER_TOLERANCE * bound) / size
    for (;;) {
      const step = newtonStep(hessian, gradient, x, weight)
      const slope = slopeAlong(step, gradient, x, weight)
      if (slope < 0 && -slope >= (weight > least ? DECREMENT_MAX : FINAL_DECREMENT_MAX) * weight) {
        lineSearch(model, x, step, slope, weight)
        break
      }
      if (!(weight > least)) return bound
      weight = Math.max(weight * WEIGHT_FACTOR, least)
    }
  }
}

/** Goes the whole step, or to about where bound and barrier are least on the way. */
function lineSearch(model: Model, x: Float64Array, step: Float64Array, slope: number, weight: number): void {
  let far = 1
  for (let n = 0; n < x.length; n++)
    if ((step[n] as number) < 0) far = Math.min(far, ((VARIABLE_FACTOR_MIN - 1) * (x[n] as number)) / (step[n] as number))
  const begun = Float64Array.from(x)
  const slopeAt = (reach: number): number => {
    for (let n = 0; n < x.length; n++) x[n] = (begun[n] as number) + reach * (step[n] as number)
    return slopeAlong(step, evaluate(model, x, null).gradient, x, weight)
  }
  let rise = slopeAt(far)
  if (rise < 0) return
  for (let near = 0, bisections = 0; Math.abs(rise) > -SLOPE_TOLERANCE * slope && bisections < BISECTIONS_MAX; bisections++) {
    const middle = (near + far) / 2
    rise = slopeAt(middle)
    if (rise > 0) far = middle
    else near = middle
  }
}

/** What each edge takes and pays as the swap of each hop. */
function usesOf(model: Model, x: Float64Array, bound: number): readonly Use[] {
  const { subproblem, units } = model
  const { market, banned } = subproblem
  const uses: Use[] = []
  const cumulative = new Map<number, { amountIn: number; paid: number }>()
  visitTrades(model, x, (pair, hop, cost, worth) => {
    const price = cost.value / worth.value
    const number = subproblem.pairs[pair] as number
    for (let edge = market.firstEdge[number] as number; edge < (market.firstEdge[number + 1] as number); edge++) {
      if (banned.has(edge)) continue
      trade.in = trade.out = trade.profit = trade.sensitivity = 0
      tradeTo(curveAt(market, edge), price, Math.sqrt(price), trade)
      const previous = cumulative.get(edge) ?? { amountIn: 0, paid: 0 }
      const [amountIn, paid] = [trade.in - previous.amountIn, trade.out - previous.paid]
      if (amountIn * (units[cost.token] as number) <= DUST * bound) continue
      cumulative.set(edge, { amountIn: trade.in, paid: trade.out })
      uses.push({ edge, hop, from: cost.token, to: worth.token, amountIn, paid })
    }
  })
  return uses
}
