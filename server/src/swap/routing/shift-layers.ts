import { solveDual } from './dual.ts'
import { isOptimalWithinHops } from './hop-limited-dual.ts'
import { bestDetours } from './seed-detours.ts'
import { incidentPairs, keepPairs, type Subproblem, tradePair } from './subproblem.ts'

/** The solution of a subproblem with only the swaps that lead to a higher layer. `bound` is its output before gas. */
export type LayeredFlow = Readonly<{ subproblem: Subproblem; layers: Uint8Array; bound: number }>

export type LayerOptions = Readonly<{ hopsMax: number; gasPrice: number; isOver: () => boolean }>

/** Solves with only the swaps that lead to a higher layer. `value` has the start prices. */
export function solveLayered(
  unlayered: Subproblem,
  layers: Uint8Array,
  amount: number,
  value: Float64Array,
): LayeredFlow {
  const allowed = keepPairs(unlayered, (from, to) => (layers[from] as number) < (layers[to] as number))
  const subproblem = { ...allowed, value: value.slice() }
  return { subproblem, layers, bound: solveDual(subproblem, amount) }
}

/** A loss by the hop limit, or a gain, below this share of the output is ignored. */
export const GAIN_MIN = 1e-9
/** A layering whose bound exceeds the bound without layers by this share was not solved. */
const UNSETTLED = 1e-6
/** A gain below the cost of this much gas is ignored: a sixth of the cheapest swap. */
export const GAS_NEGLIGIBLE = 10_000
/** Rounds, and layerings solved in one round, at most. */
const ROUNDS_MAX = 60
const MOVES_MAX = 100

/**
 * Improves the layers while the hop limit costs output: moves single tokens to other layers, or all tokens of a path that pays more at
 * marginal prices than the source is worth.
 *
 * By the dual, at current prices another layering pays at most the current bound, less the profit of the pools that it closes, plus the
 * profit of the pools that it opens. Layerings without a gain by this bound are not solved; the others are solved in decreasing order of it.
 */
export function shiftLayers(
  unlayered: Subproblem,
  initial: LayeredFlow,
  amount: number,
  unlimitedBound: number,
  { hopsMax, gasPrice, isOver }: LayerOptions,
): LayeredFlow {
  const incident = incidentPairs(unlayered)
  let best = initial
  for (let round = 0; round < ROUNDS_MAX && !isOver(); round++) {
    const least = Math.max(best.bound * GAIN_MIN, gasPrice * GAS_NEGLIGIBLE)
    if (unlimitedBound - best.bound <= least) return best
    const flow = evaluatePairs(unlayered, best, incident)
    if (hopsMax > 2 && isOptimalWithinHops(unlayered, amount, hopsMax, { price: priceAfter(flow), output: best.bound }))
      return best
    const moves = [...tokenMoves(flow, hopsMax), ...pathMoves(flow, hopsMax)].filter(
      ({ gainBound }) => gainBound > least,
    )
    let better: LayeredFlow | null = null
    for (const { layers, value } of moves.sort((a, b) => b.gainBound - a.gainBound).slice(0, MOVES_MAX)) {
      if (isOver()) return best
      let candidate = solveLayered(unlayered, layers, amount, value)
      // The minimum is no higher than without layers. Next to zero, prices did not settle.
      if (candidate.bound > unlimitedBound * (1 + UNSETTLED))
        candidate = solveLayered(unlayered, layers, amount, unlayered.value)
      if (candidate.bound <= best.bound + least) continue
      better = candidate
      break
    }
    if (better === null) return best
    best = better
  }
  return best
}

/** A solved layering, and the profit of all pairs at its prices, whether the layering allows them or not. */
type EvaluatedFlow = Readonly<{
  unlayered: Subproblem
  incident: readonly (readonly number[])[]
  layers: Uint8Array
  value: Float64Array
  earning: Float64Array
  /** 1 for tokens without flow: their prices carry no information. */
  idle: Uint8Array
}>

const trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

function earningOf(subproblem: Subproblem, pair: number): number {
  tradePair(subproblem, pair, trade)
  return trade.profit * (subproblem.value[subproblem.from[pair] as number] as number)
}

const isAllowed = ({ from, to }: Subproblem, layers: Uint8Array, pair: number): boolean =>
  (layers[from[pair] as number] as number) < (layers[to[pair] as number] as number)

function evaluatePairs(
  unlayered: Subproblem,
  { subproblem, layers }: LayeredFlow,
  incident: EvaluatedFlow['incident'],
): EvaluatedFlow {
  const { value } = subproblem
  const all = { ...unlayered, value }
  const earning = new Float64Array(unlayered.pairs.length)
  for (let pair = 0; pair < earning.length; pair++) earning[pair] = earningOf(all, pair)
  const idle = new Uint8Array(value.length).fill(1)
  for (let pair = 0; pair < earning.length; pair++)
    if (isAllowed(unlayered, layers, pair) && (earning[pair] as number) > 0)
      idle[unlayered.from[pair] as number] = idle[unlayered.to[pair] as number] = 0
  return { unlayered, incident, layers, value, earning, idle }
}

type Move = Readonly<{
  layers: Uint8Array
  value: Float64Array
  /** Upper bound of the gain, in units of the target. */
  gainBound: number
}>

/** `value` may differ from the current prices only at idle tokens. */
function createMove(
  { unlayered, incident, layers: current, earning, idle }: EvaluatedFlow,
  layers: Uint8Array,
  value: Float64Array,
): Move {
  const { from, to } = unlayered
  const all = { ...unlayered, value }
  let gainBound = 0
  for (let token = 0; token < layers.length; token++) {
    if (layers[token] === current[token]) continue
    for (const pair of incident[token] as readonly number[]) {
      const [a, b] = [from[pair] as number, to[pair] as number]
      const other = a === token ? b : a
      // If the other token moves, too, the pair is counted once, with that token.
      if (other < token && layers[other] !== current[other]) continue
      const hasIdleToken = idle[a] === 1 || idle[b] === 1
      if (isAllowed(unlayered, layers, pair))
        gainBound += hasIdleToken ? earningOf(all, pair) : (earning[pair] as number)
      if (isAllowed(unlayered, current, pair)) gainBound -= earning[pair] as number
    }
  }
  return { layers, value, gainBound }
}

function tokenMoves(flow: EvaluatedFlow, hopsMax: number): Move[] {
  const { layers: current, value, idle } = flow
  const moves: Move[] = []
  for (let token = 2; token < current.length; token++) {
    for (let to = 1; to < hopsMax; to++) {
      if (to === current[token]) continue
      const layers = Uint8Array.from(current)
      layers[token] = to
      const worth = idle[token] === 1 ? worthBetween(flow, layers, token) : (value[token] as number)
      if (worth === null) continue
      const values = worth === value[token] ? value : Float64Array.from(value)
      values[token] = worth
      moves.push(createMove(flow, layers, values))
    }
  }
  return moves
}

/**
 * Price of an idle token at these layers: the geometric mean of its cost and its worth per unit, or null if it costs more than it is
 * worth.
 */
function worthBetween({ unlayered, incident, value }: EvaluatedFlow, layers: Uint8Array, token: number): number | null {
  let cost = Number.POSITIVE_INFINITY
  let worth = 0
  for (const pair of incident[token] as readonly number[]) {
    if (!isAllowed(unlayered, layers, pair)) continue
    const price = unlayered.market.price[unlayered.pairs[pair] as number] as number
    if (unlayered.to[pair] === token) cost = Math.min(cost, (value[unlayered.from[pair] as number] as number) / price)
    else worth = Math.max(worth, (value[unlayered.to[pair] as number] as number) * price)
  }
  return worth > cost ? Math.sqrt(worth * cost) : null
}

/** Marginal price of a pair after the flow: the ratio of dual prices if the pair trades, otherwise its spot price. */
const priceAfter =
  ({ unlayered, layers, value, earning }: Omit<EvaluatedFlow, 'idle' | 'incident'>) =>
  (pair: number): number =>
    isAllowed(unlayered, layers, pair) && (earning[pair] as number) > 0
      ? (value[unlayered.from[pair] as number] as number) / (value[unlayered.to[pair] as number] as number)
      : (unlayered.market.price[unlayered.pairs[pair] as number] as number)

/** Marginal price of each pair after this flow. */
export const pricesAfter = (unlayered: Subproblem, flow: LayeredFlow): ((pair: number) => number) =>
  priceAfter(evaluatePairs(unlayered, flow, []))

function pathMoves(flow: EvaluatedFlow, hopsMax: number): Move[] {
  const { unlayered, layers: current, value, idle } = flow
  const price = priceAfter(flow)
  return bestDetours(unlayered, price, hopsMax, (value[0] as number) * (1 + GAIN_MIN)).flatMap(({ pairs, product }) => {
    const tokens = pairs.slice(0, -1).map((pair) => unlayered.to[pair] as number)
    // Prices of idle tokens spread the path's gain evenly over its hops.
    const hopFactor = ((value[0] as number) / product) ** (1 / pairs.length)
    const values = Float64Array.from(value)
    let worth = value[0] as number
    for (const [hop, token] of tokens.entries()) {
      worth /= price(pairs[hop] as number) * hopFactor
      if (idle[token] === 1) values[token] = worth
    }
    return increasingSequences(tokens.length, hopsMax - 1).map((pathLayers) => {
      const layers = Uint8Array.from(current)
      for (const [hop, token] of tokens.entries()) layers[token] = pathLayers[hop] as number
      return createMove(flow, layers, values)
    })
  })
}

/** All strictly increasing sequences of `count` numbers from 1 to `most`. */
function increasingSequences(count: number, most: number): number[][] {
  if (count === 0) return [[]]
  return Array.from({ length: Math.max(0, most - count + 1) }, (_, index) => index + count).flatMap((last) =>
    increasingSequences(count - 1, last - 1).map((first) => [...first, last]),
  )
}
