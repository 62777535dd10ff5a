import type { SwapMarket, Trade } from './swap-markets.ts'

/*
 * What no route of paths of up to four hops can exceed, over pools of constant product and without gas: the dual of the problem
 * in which every token stands once for each number of hops that it is away from the source. A unit of flow is counted by its own
 * path, so that paths may join and part, and a pool may be used for one path as the second and for another as the third swap.
 *
 * A value ν(token, hops) falls with the hops, for who is early may wait. A pool that takes x₂ as second and x₃ as third swap pays
 * f(x₂) to the former and f(x₂ + x₃) − f(x₂) to the latter at best (f is concave, so what it pays to both is at most f of the sum,
 * and to either at most f of its own), and earns at most
 *
 *     max over 0 ≤ x₂ ≤ X of  (ν(b,2) − ν(b,3))·f(x₂) − (ν(a,1) − ν(a,2))·x₂  +  ν(b,3)·f(X) − ν(a,2)·X
 *
 * Both directions of a pool count on their own: who trade against each other there had better trade places and save the fees.
 * With ν(source)·input the sum over all pools is a bound at any values; it is made least by Newton's method with a barrier.
 */
const EARLIEST = 3
/** Of the bound, all barriers together in the end. */
const BARRIER = 1e-11
const STEPS_MAX = 400
const HALVES_MAX = 60
const ROUNDS_MAX = 30

type Edge = Readonly<{
  from: number
  to: number
  /** Reserve in ÷ (1 − fee), reserve out. */
  need: number
  give: number
}>

function edgesOf({ tokens, pools }: SwapMarket): readonly Edge[] {
  const numbers = new Map(tokens.map((token, number) => [token, number]))
  return pools.flatMap((pool) => {
    const [a = -1, b = -1] = pool.tokens.map((token) => numbers.get(token))
    const [inA, inB] = pool.reserves.map(Number) as [number, number]
    const keep = 1 - pool.feePpm / 1e6
    return [
      { from: a, to: b, need: inA / keep, give: inB },
      { from: b, to: a, need: inB / keep, give: inA },
    ]
  })
}

/** By token what it is worth after one, two and three hops; of the source, what it is worth at all. */
type Values = readonly Float64Array[]

const at = (values: Values, hops: number, token: number): number => (values[hops - 1] as Float64Array)[token] as number

const earned = (cost: number, worth: number, { need, give }: Edge): number =>
  Math.max(0, Math.sqrt(worth * give) - Math.sqrt(cost * need)) ** 2

/** What an edge earns at most. */
function earningOf(values: Values, source: number, target: number, edge: Edge): number {
  const { from, to } = edge
  if (from === target || to === source) return 0
  const worth = (hops: number) => (to === target ? 1 : at(values, hops, to))
  if (from === source) return earned(at(values, 1, source), worth(1), edge)
  if (to === target) return earned(at(values, 3, from), 1, edge)
  const [early, later] = [at(values, 1, from) - at(values, 2, from), worth(2) - worth(3)]
  if (early * worth(3) < later * at(values, 2, from)) return earned(at(values, 1, from), worth(2), edge)
  return earned(early, later, edge) + earned(at(values, 2, from), worth(3), edge)
}

const boundAt = (values: Values, edges: readonly Edge[], { source, target, amountIn }: Trade): number =>
  edges.reduce((sum, edge) => sum + earningOf(values, source, target, edge), at(values, 1, source) * Number(amountIn))

/**
 * Fills in, for tokens that are not `within`, the least values at which nothing is earned by what leads away from them. Gives
 * the tokens by which they have them, by hops.
 */
function valueOthers(
  values: Values,
  within: ReadonlySet<number>,
  edges: readonly Edge[],
  target: number,
): readonly Int32Array[] {
  const by = values.map((now) => new Int32Array(now.length).fill(-1))
  for (let hops = EARLIEST; hops >= 1; hops--) {
    const now = values[hops - 1] as Float64Array
    const way = by[hops - 1] as Int32Array
    const next = values[hops]
    for (let token = 0; token < now.length; token++) {
      if (within.has(token)) continue
      now[token] = next === undefined ? 0 : (next[token] as number)
      way[token] = by[hops]?.[token] ?? -1
    }
    for (const { from, to, need, give } of edges) {
      if (within.has(from)) continue
      const worth = ((to === target ? 1 : next === undefined ? 0 : (next[to] as number)) * give) / need
      if (worth <= (now[from] as number)) continue
      now[from] = worth
      way[from] = to
    }
  }
  return by
}

/** One trade of one pool: its cost and worth are sums of the variables from … until, each times the token's unit. */
type Piece = Readonly<{ edge: Edge; cost: Span; worth: Span }>
type Span = Readonly<{ from: number; until: number; unit: number; fixed: number }>

/** Variables: of every token within by how much its value rises from three to two to one hop, and the source's value. */
type Model = Readonly<{ trade: Trade; tokens: readonly number[]; units: readonly number[]; edges: readonly Edge[] }>

function piecesOf({ trade, tokens, units, edges }: Model, x: Float64Array): readonly Piece[] {
  const { source, target } = trade
  const place = new Map(tokens.map((token, index) => [token, index]))
  const last = tokens.length * EARLIEST
  const span = (token: number, hops: number, until = EARLIEST): Span => {
    if (token === target) return { from: 0, until: 0, unit: 0, fixed: 1 }
    if (token === source) return { from: last, until: last + 1, unit: units[tokens.length] as number, fixed: 0 }
    const index = place.get(token) as number
    return {
      from: index * EARLIEST + hops - 1,
      until: index * EARLIEST + until,
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
  const begun = Number(model.trade.amountIn) * (model.units[model.tokens.length] as number) * (x[n] as number)
  return piecesOf(model, x).reduce(
    (total, { edge, cost, worth }) => total + earned(sum(cost, x), sum(worth, x), edge),
    begun,
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
  for (const { edge, cost, worth } of piecesOf(model, x)) {
    const [c, w] = [sum(cost, x), sum(worth, x)]
    const { need, give } = edge
    if (w * give <= c * need) continue
    const root = Math.sqrt(need * give)
    for (let n = cost.from; n < cost.until; n++)
      gradient[n] = (gradient[n] as number) - cost.unit * (root * Math.sqrt(w / c) - need)
    for (let n = worth.from; n < worth.until; n++)
      gradient[n] = (gradient[n] as number) + worth.unit * (give - root * Math.sqrt(c / w))
    const between = -root / (2 * Math.sqrt(w * c))
    add(cost, cost, (-between * w) / c)
    add(worth, worth, (-between * c) / w)
    add(cost, worth, between)
    add(worth, cost, between)
  }
  return { gradient, hessian }
}

/** −H⁻¹·g by Cholesky's method, in place. */
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

/** Makes the bound of these edges least; moves x. */
function minimise(model: Model, x: Float64Array): void {
  const size = x.length
  let weight = (0.01 * evaluate(model, x)) / size
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    const { gradient, hessian } = derive(model, x)
    for (let n = 0; n < size; n++) {
      const one = x[n] as number
      gradient[n] = (gradient[n] as number) + weight * (1 - 1 / one)
      hessian[n * size + n] = (hessian[n * size + n] as number) * (1 + 1e-12) + weight / (one * one)
    }
    const step = newtonStep(gradient, hessian)
    const slope = gradient.reduce((total, one, n) => total + one * (step[n] as number), 0)
    if (slope < -0.01 * weight) descend(model, x, step, slope, weight)
    else if (weight * size <= BARRIER * evaluate(model, x)) return
    else weight *= 0.2
  }
}

/** Goes the whole step, or to where the bound and the barrier are least on the way. */
function descend(model: Model, x: Float64Array, step: Float64Array, slope: number, weight: number): void {
  const begun = Float64Array.from(x)
  const riseAt = (reach: number) => {
    for (const [n, one] of begun.entries()) x[n] = one + reach * (step[n] as number)
    const { gradient } = derive(model, x)
    return gradient.reduce(
      (total, one, n) => total + (step[n] as number) * (one + weight * (1 - 1 / (x[n] as number))),
      0,
    )
  }
  let far = Math.min(1, ...step.map((one, n) => (one < 0 ? (-0.95 * (x[n] as number)) / one : 1)))
  let rise = riseAt(far)
  if (rise < 0) return
  for (let near = 0, halves = 0; Math.abs(rise) > -1e-3 * slope && halves < HALVES_MAX; halves++) {
    const middle = (near + far) / 2
    rise = riseAt(middle)
    if (rise > 0) far = middle
    else near = middle
  }
}

const STARTING = 1e-3

/** The bound for a trade, over all pools of the market; 0 where four hops do not lead there. */
export function fourHopBound(market: SwapMarket, trade: Trade): number {
  const { source, target } = trade
  const edges = edgesOf(market).filter(({ from, to }) => from !== target && to !== source)
  const values = Array.from({ length: EARLIEST }, () => new Float64Array(market.tokens.length))
  valueOthers(values, new Set(), edges, target)
  const single = Math.max(
    0,
    ...edges.map((edge) =>
      edge.from === source ? ((edge.to === target ? 1 : at(values, 1, edge.to)) * edge.give) / edge.need : 0,
    ),
  )
  if (single === 0) return 0
  const known = new Map<number, readonly number[]>([[source, [0.9 * single]]])
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const within = new Set(known.keys())
    for (const [token, own] of known)
      for (let n = 0; n < EARLIEST; n++) (values[n] as Float64Array)[token] = own[n] ?? (own[0] as number)
    const by = valueOthers(values, within, edges, target)
    least = Math.min(least, boundAt(values, edges, trade))
    const missing = new Set<number>()
    for (const edge of edges) {
      if (earningOf(values, source, target, edge) <= 1e-13 * least) continue
      for (let hops = 1, token = edge.to; hops <= EARLIEST && token >= 0; hops++) {
        if (token !== target && !within.has(token)) missing.add(token)
        token = by[hops - 1]?.[token] ?? -1
      }
    }
    if (round > 0 && missing.size === 0) return least
    const tokens = [...within, ...missing].filter((token) => token !== source)
    const all = new Set([...tokens, source, target])
    const units = [...tokens.map((token) => at(values, 1, token)), at(values, 1, source)]
    const model = { trade, tokens, units, edges: edges.filter(({ from, to }) => all.has(from) && all.has(to)) }
    const x = new Float64Array(tokens.length * EARLIEST + 1).fill(1)
    for (const [index, token] of tokens.entries()) {
      for (let hops = 1; hops <= EARLIEST; hops++) {
        const rise = at(values, hops, token) - (hops < EARLIEST ? at(values, hops + 1, token) : 0)
        x[index * EARLIEST + hops - 1] = Math.max(STARTING, rise / at(values, 1, token))
      }
    }
    minimise(model, x)
    known.set(source, [(units.at(-1) as number) * (x.at(-1) as number)])
    for (const [index, token] of tokens.entries()) {
      const [a, b, c] = [0, 1, 2].map((n) => (units[index] as number) * (x[index * EARLIEST + n] as number)) as [
        number,
        number,
        number,
      ]
      known.set(token, [a + b + c, b + c, c])
    }
  }
  return least
}
