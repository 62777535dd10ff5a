import type { SwapMarket, Trade } from '../../../../bench/swap-markets.ts'

/*
 * An upper bound of the output of all routes whose paths have up to four hops, over constant-product pools and without gas. It is the
 * dual of a layered flow problem in which each token has one node per number of hops from the source. Each unit of flow counts the hops
 * of its own path, so paths may join and split, and a pool may be the second swap of one path and the third swap of another.
 *
 * The dual value ν(token, hops) does not increase with the hops, because flow that needed fewer hops may still take any longer path. A
 * pool a → b that receives x₂ as second and x₃ as third swap, X in total, pays at best f(x₂) for the former and f(x₂ + x₃) − f(x₂) for
 * the latter: f is concave, so both together receive at most f of the sum, and each at most f of its own input. Its profit is at most
 *
 *     max over 0 ≤ x₂ ≤ X of  (ν(b,2) − ν(b,3))·f(x₂) − (ν(a,1) − ν(a,2))·x₂  +  ν(b,3)·f(X) − ν(a,2)·X
 *
 * Opposite flows through one pool are counted separately; netting them would only save fees. At any values, the profits of all pools
 * plus ν(source)·input are an upper bound. Newton's method with a logarithmic barrier minimizes it.
 */
/** Layers of token nodes: after one, two and three hops. */
const LAYERS = 3
/** Sum of all barrier terms at the end, relative to the bound. */
const BARRIER_TOLERANCE = 1e-11
const NEWTON_STEPS_MAX = 400
const BISECTIONS_MAX = 60
const ROUNDS_MAX = 30

type Edge = Readonly<{
  from: number
  to: number
  /** Reserve of the input token ÷ (1 − fee). */
  reserveIn: number
  reserveOut: number
}>

function edgesOf({ tokens, pools }: SwapMarket): readonly Edge[] {
  const indexes = new Map(tokens.map((token, index) => [token, index]))
  return pools.flatMap((pool) => {
    const [a = -1, b = -1] = pool.tokens.map((token) => indexes.get(token))
    const [reserveA, reserveB] = pool.reserves.map(Number) as [number, number]
    const feeFactor = 1 - pool.feePpm / 1e6
    return [
      { from: a, to: b, reserveIn: reserveA / feeFactor, reserveOut: reserveB },
      { from: b, to: a, reserveIn: reserveB / feeFactor, reserveOut: reserveA },
    ]
  })
}

/** Dual value of each token by layer. The source has the same value in all layers. */
type Values = readonly Float64Array[]

const valueAt = (values: Values, hops: number, token: number): number =>
  (values[hops - 1] as Float64Array)[token] as number

/** Maximum profit of an edge per single use: input costs `cost` per unit, output is worth `worth` per unit. */
const profitOf = (cost: number, worth: number, { reserveIn, reserveOut }: Edge): number =>
  Math.max(0, Math.sqrt(worth * reserveOut) - Math.sqrt(cost * reserveIn)) ** 2

/** Maximum profit of an edge over all its uses. */
function maxProfitOf(values: Values, source: number, target: number, edge: Edge): number {
  const { from, to } = edge
  if (from === target || to === source) return 0
  const worth = (hops: number) => (to === target ? 1 : valueAt(values, hops, to))
  if (from === source) return profitOf(valueAt(values, 1, source), worth(1), edge)
  if (to === target) return profitOf(valueAt(values, 3, from), 1, edge)
  const [early, later] = [valueAt(values, 1, from) - valueAt(values, 2, from), worth(2) - worth(3)]
  if (early * worth(3) < later * valueAt(values, 2, from)) return profitOf(valueAt(values, 1, from), worth(2), edge)
  return profitOf(early, later, edge) + profitOf(valueAt(values, 2, from), worth(3), edge)
}

const boundAt = (values: Values, edges: readonly Edge[], { source, target, amountIn }: Trade): number =>
  edges.reduce(
    (sum, edge) => sum + maxProfitOf(values, source, target, edge),
    valueAt(values, 1, source) * Number(amountIn),
  )

/**
 * Sets the values of tokens outside of `included` to the lowest at which no edge away from them is profitable. Returns, by layer, the
 * next token of the edge that determines each value, or -1.
 */
function valueExcludedTokens(
  values: Values,
  included: ReadonlySet<number>,
  edges: readonly Edge[],
  target: number,
): readonly Int32Array[] {
  const nextTokens = values.map((layer) => new Int32Array(layer.length).fill(-1))
  for (let hops = LAYERS; hops >= 1; hops--) {
    const layer = values[hops - 1] as Float64Array
    const nextInLayer = nextTokens[hops - 1] as Int32Array
    const followingLayer = values[hops]
    for (let token = 0; token < layer.length; token++) {
      if (included.has(token)) continue
      layer[token] = followingLayer === undefined ? 0 : (followingLayer[token] as number)
      nextInLayer[token] = nextTokens[hops]?.[token] ?? -1
    }
    for (const { from, to, reserveIn, reserveOut } of edges) {
      if (included.has(from)) continue
      const worth =
        ((to === target ? 1 : followingLayer === undefined ? 0 : (followingLayer[to] as number)) * reserveOut) /
        reserveIn
      if (worth <= (layer[from] as number)) continue
      layer[from] = worth
      nextInLayer[from] = to
    }
  }
  return nextTokens
}

/** One use of an edge, with the cost of its input and the worth of its output as functions of the variables. */
type EdgeUse = Readonly<{ edge: Edge; cost: Span; worth: Span }>
/** The value `fixed` + `unit` · sum of the variables in [from, until). */
type Span = Readonly<{ from: number; until: number; unit: number; fixed: number }>

/**
 * The problem over the included tokens. Variables, in units of the start values: per token ν(1) − ν(2), ν(2) − ν(3) and ν(3), then
 * ν(source).
 */
type Model = Readonly<{ trade: Trade; tokens: readonly number[]; units: readonly number[]; edges: readonly Edge[] }>

function edgeUsesOf({ trade, tokens, units, edges }: Model, x: Float64Array): readonly EdgeUse[] {
  const { source, target } = trade
  const indexOf = new Map(tokens.map((token, index) => [token, index]))
  const last = tokens.length * LAYERS
  const span = (token: number, hops: number, until = LAYERS): Span => {
    if (token === target) return { from: 0, until: 0, unit: 0, fixed: 1 }
    if (token === source) return { from: last, until: last + 1, unit: units[tokens.length] as number, fixed: 0 }
    const index = indexOf.get(token) as number
    return {
      from: index * LAYERS + hops - 1,
      until: index * LAYERS + until,
      unit: units[index] as number,
      fixed: 0,
    }
  }
  return edges.flatMap((edge) => {
    const { from, to } = edge
    if (from === source) return [{ edge, cost: span(from, 1), worth: span(to, 1) }]
    if (to === target) return [{ edge, cost: span(from, 3), worth: span(to, 3) }]
    const [early, later] = [span(from, 1, 1), span(to, 2, 2)]
    const rest = { edge, cost: span(from, 2), worth: span(to, 3) }
    if (sum(early, x) * sum(rest.worth, x) < sum(later, x) * sum(rest.cost, x))
      return [{ edge, cost: span(from, 1), worth: span(to, 2) }]
    return [{ edge, cost: early, worth: later }, rest]
  })
}

function sum({ from, until, unit, fixed }: Span, x: Float64Array): number {
  let total = fixed
  for (let n = from; n < until; n++) total += unit * (x[n] as number)
  return total
}

function evaluate(model: Model, x: Float64Array): number {
  const n = x.length - 1
  const sourceTerm = Number(model.trade.amountIn) * (model.units[model.tokens.length] as number) * (x[n] as number)
  return edgeUsesOf(model, x).reduce(
    (total, { edge, cost, worth }) => total + profitOf(sum(cost, x), sum(worth, x), edge),
    sourceTerm,
  )
}

function derive(model: Model, x: Float64Array): { gradient: Float64Array; hessian: Float64Array } {
  const size = x.length
  const gradient = new Float64Array(size)
  const hessian = new Float64Array(size * size)
  gradient[size - 1] = Number(model.trade.amountIn) * (model.units[model.tokens.length] as number)
  const add = (a: Span, b: Span, by: number) => {
    for (let row = a.from; row < a.until; row++)
      for (let column = b.from; column < b.until; column++)
        hessian[row * size + column] = (hessian[row * size + column] as number) + by * a.unit * b.unit
  }
  for (const { edge, cost, worth } of edgeUsesOf(model, x)) {
    const [c, w] = [sum(cost, x), sum(worth, x)]
    const { reserveIn, reserveOut } = edge
    if (w * reserveOut <= c * reserveIn) continue
    const root = Math.sqrt(reserveIn * reserveOut)
    for (let n = cost.from; n < cost.until; n++)
      gradient[n] = (gradient[n] as number) - cost.unit * (root * Math.sqrt(w / c) - reserveIn)
    for (let n = worth.from; n < worth.until; n++)
      gradient[n] = (gradient[n] as number) + worth.unit * (reserveOut - root * Math.sqrt(c / w))
    const mixed = -root / (2 * Math.sqrt(w * c))
    add(cost, cost, (-mixed * w) / c)
    add(worth, worth, (-mixed * c) / w)
    add(cost, worth, mixed)
    add(worth, cost, mixed)
  }
  return { gradient, hessian }
}

/** −H⁻¹·g by Cholesky decomposition of H in place. */
function newtonStep(gradient: Float64Array, h: Float64Array): Float64Array {
  const size = gradient.length
  const step = gradient.map((slope) => -slope)
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let rest = h[row * size + column] as number
      for (let k = 0; k < column; k++) rest -= (h[row * size + k] as number) * (h[column * size + k] as number)
      h[row * size + column] =
        row === column ? Math.sqrt(Math.max(rest, 1e-300)) : rest / (h[column * size + column] as number)
    }
    let rest = step[row] as number
    for (let k = 0; k < row; k++) rest -= (h[row * size + k] as number) * (step[k] as number)
    step[row] = rest / (h[row * size + row] as number)
  }
  for (let row = size - 1; row >= 0; row--) {
    let rest = step[row] as number
    for (let k = row + 1; k < size; k++) rest -= (h[k * size + row] as number) * (step[k] as number)
    step[row] = rest / (h[row * size + row] as number)
  }
  return step
}

/** Minimizes the bound of the model; updates x in place. */
function minimize(model: Model, x: Float64Array): void {
  const size = x.length
  let weight = (0.01 * evaluate(model, x)) / size
  for (let steps = 0; steps < NEWTON_STEPS_MAX; steps++) {
    const { gradient, hessian } = derive(model, x)
    for (let n = 0; n < size; n++) {
      const one = x[n] as number
      gradient[n] = (gradient[n] as number) + weight * (1 - 1 / one)
      hessian[n * size + n] = (hessian[n * size + n] as number) * (1 + 1e-12) + weight / (one * one)
    }
    const step = newtonStep(gradient, hessian)
    const slope = gradient.reduce((total, one, n) => total + one * (step[n] as number), 0)
    if (slope < -0.01 * weight) searchLine(model, x, step, slope, weight)
    else if (weight * size <= BARRIER_TOLERANCE * evaluate(model, x)) return
    else weight *= 0.2
  }
}

/** Line search: takes the whole step, or bisects to the minimum of bound and barrier along it. Updates x. */
function searchLine(model: Model, x: Float64Array, step: Float64Array, slope: number, weight: number): void {
  const start = Float64Array.from(x)
  const slopeAt = (length: number) => {
    for (const [n, one] of start.entries()) x[n] = one + length * (step[n] as number)
    const { gradient } = derive(model, x)
    return gradient.reduce(
      (total, one, n) => total + (step[n] as number) * (one + weight * (1 - 1 / (x[n] as number))),
      0,
    )
  }
  let upper = Math.min(1, ...step.map((one, n) => (one < 0 ? (-0.95 * (x[n] as number)) / one : 1)))
  let currentSlope = slopeAt(upper)
  if (currentSlope < 0) return
  for (
    let lower = 0, bisections = 0;
    Math.abs(currentSlope) > -1e-3 * slope && bisections < BISECTIONS_MAX;
    bisections++
  ) {
    const middle = (lower + upper) / 2
    currentSlope = slopeAt(middle)
    if (currentSlope > 0) upper = middle
    else lower = middle
  }
}

/** Lowest start value of a variable. */
const START_MIN = 1e-3

/**
 * The bound for a trade over all pools of the market; 0 if no path of up to four hops exists. It starts with the source alone and adds
 * tokens whose edges are profitable at the current values until there are none.
 */
export function fourHopBound(market: SwapMarket, trade: Trade): number {
  const { source, target } = trade
  const edges = edgesOf(market).filter(({ from, to }) => from !== target && to !== source)
  const values = Array.from({ length: LAYERS }, () => new Float64Array(market.tokens.length))
  valueExcludedTokens(values, new Set(), edges, target)
  const bestSinglePath = Math.max(
    0,
    ...edges.map((edge) =>
      edge.from === source
        ? ((edge.to === target ? 1 : valueAt(values, 1, edge.to)) * edge.reserveOut) / edge.reserveIn
        : 0,
    ),
  )
  if (bestSinglePath === 0) return 0
  const included = new Map<number, readonly number[]>([[source, [0.9 * bestSinglePath]]])
  let lowest = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const includedTokens = new Set(included.keys())
    for (const [token, own] of included)
      for (let n = 0; n < LAYERS; n++) (values[n] as Float64Array)[token] = own[n] ?? (own[0] as number)
    const nextTokens = valueExcludedTokens(values, includedTokens, edges, target)
    lowest = Math.min(lowest, boundAt(values, edges, trade))
    const missing = new Set<number>()
    for (const edge of edges) {
      if (maxProfitOf(values, source, target, edge) <= 1e-13 * lowest) continue
      for (let hops = 1, token = edge.to; hops <= LAYERS && token >= 0; hops++) {
        if (token !== target && !includedTokens.has(token)) missing.add(token)
        token = nextTokens[hops - 1]?.[token] ?? -1
      }
    }
    if (round > 0 && missing.size === 0) return lowest
    const tokens = [...includedTokens, ...missing].filter((token) => token !== source)
    const all = new Set([...tokens, source, target])
    const units = [...tokens.map((token) => valueAt(values, 1, token)), valueAt(values, 1, source)]
    const model = { trade, tokens, units, edges: edges.filter(({ from, to }) => all.has(from) && all.has(to)) }
    const x = new Float64Array(tokens.length * LAYERS + 1).fill(1)
    for (const [index, token] of tokens.entries()) {
      for (let hops = 1; hops <= LAYERS; hops++) {
        const rise = valueAt(values, hops, token) - (hops < LAYERS ? valueAt(values, hops + 1, token) : 0)
        x[index * LAYERS + hops - 1] = Math.max(START_MIN, rise / valueAt(values, 1, token))
      }
    }
    minimize(model, x)
    included.set(source, [(units.at(-1) as number) * (x.at(-1) as number)])
    for (const [index, token] of tokens.entries()) {
      const [a, b, c] = [0, 1, 2].map((n) => (units[index] as number) * (x[index * LAYERS + n] as number)) as [
        number,
        number,
        number,
      ]
      included.set(token, [a + b + c, b + c, c])
    }
  }
  return lowest
}
