import { solveDual } from './dual.ts'
import { isOptimalWithinHops } from './hop-limited-dual.ts'
import { bestDetours } from './seed-detours.ts'
import { incidentPairs, keepPairs, type Subproblem, tradePair } from './subproblem.ts'

/** A problem of swaps alone that lead to a higher level, and what it pays. */
export type LayeredFlow = Readonly<{ subproblem: Subproblem; layers: Uint8Array; bound: number }>

export type LayerOptions = Readonly<{ hopsMax: number; gasPrice: number; isOver: () => boolean }>

/** Solves with the swaps alone that lead to a higher level. `value` is where the search begins. */
export function solveLayered(unlayered: Subproblem, layers: Uint8Array, amount: number, value: Float64Array): LayeredFlow {
  const allowed = keepPairs(unlayered, (from, to) => (layers[from] as number) < (layers[to] as number))
  const subproblem = { ...allowed, value: value.slice() }
  return { subproblem, layers, bound: solveDual(subproblem, amount) }
}

/** What the limit of hops may cost without another look, and what is no gain, in parts of the output. */
const NEGLIGIBLE = 1e-9
/** Gas that no further look is taken for: a sixth of what the cheapest swap costs. */
const GAS_NEGLIGIBLE = 10_000
const ACCEPTED_MAX = 60
const MOVES_MAX = 100

/**
 * Where the limit of hops costs something: moves single tokens to other levels, or all tokens of a path that would pay more than
 * the route does, as long as that helps.
 *
 * At the present values another assignment pays at most the present bound, less what the pools earn that it shuts off, and
 * with what those would earn that it opens: what cannot help is not solved. What promises most is tried first.
 */
export function shiftLayers(
  unlayered: Subproblem,
  initial: LayeredFlow,
  amount: number,
  unlimited: number,
  { hopsMax, gasPrice, isOver }: LayerOptions,
): LayeredFlow {
  const incident = incidentPairs(unlayered)
  let best = initial
  for (let accepted = 0; accepted < ACCEPTED_MAX && !isOver(); accepted++) {
    const least = Math.max(best.bound * NEGLIGIBLE, gasPrice * GAS_NEGLIGIBLE)
    if (unlimited - best.bound <= least) return best
    const evaluated = evaluatePairs(unlayered, best, incident)
    if (hopsMax > 2 && isOptimalWithinHops(unlayered, amount, hopsMax, { price: priceAfter(evaluated), paid: best.bound })) return best
    const moves = [...tokenMoves(evaluated, hopsMax), ...pathMoves(evaluated, hopsMax)].filter(({ gainBound }) => gainBound > least)
    let better: LayeredFlow | null = null
    for (const { layers, value } of moves.sort((a, b) => b.gainBound - a.gainBound).slice(0, MOVES_MAX)) {
      if (isOver()) return best
      const moved = solveLayered(unlayered, layers, amount, value)
      if (moved.bound <= best.bound + least) continue
      better = moved
      break
    }
    if (better === null) return best
    best = better
  }
  return best
}

/** A solved assignment, with all pairs at its values: what each earns, whether it may or not. */
type EvaluatedFlow = Readonly<{
  unlayered: Subproblem
  incident: readonly (readonly number[])[]
  layers: Uint8Array
  value: Float64Array
  earning: Float64Array
  /** Tokens through which nothing flows: their values say nothing. */
  idle: Uint8Array
}>

const trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

function earningOf(subproblem: Subproblem, pair: number): number {
  tradePair(subproblem, pair, trade)
  return trade.profit * (subproblem.value[subproblem.from[pair] as number] as number)
}

const isAllowed = ({ from, to }: Subproblem, layers: Uint8Array, pair: number): boolean =>
  (layers[from[pair] as number] as number) < (layers[to[pair] as number] as number)

function evaluatePairs(unlayered: Subproblem, { subproblem, layers }: LayeredFlow, incident: EvaluatedFlow['incident']): EvaluatedFlow {
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
  /** What it adds at most, in units of the target. */
  gainBound: number
}>

/** `value` may differ at idle tokens alone. */
function createMove({ unlayered, incident, layers: now, earning, idle }: EvaluatedFlow, layers: Uint8Array, value: Float64Array): Move {
  const { from, to } = unlayered
  const all = { ...unlayered, value }
  let gainBound = 0
  for (let token = 0; token < layers.length; token++) {
    if (layers[token] === now[token]) continue
    for (const pair of incident[token] as readonly number[]) {
      const [a, b] = [from[pair] as number, to[pair] as number]
      const other = a === token ? b : a
      // Counted with the other token, where that changes, too.
      if (other < token && layers[other] !== now[other]) continue
      const hasIdleToken = idle[a] === 1 || idle[b] === 1
      if (isAllowed(unlayered, layers, pair)) gainBound += hasIdleToken ? earningOf(all, pair) : (earning[pair] as number)
      if (isAllowed(unlayered, now, pair)) gainBound -= earning[pair] as number
    }
  }
  return { layers, value, gainBound }
}

function tokenMoves(evaluated: EvaluatedFlow, hopsMax: number): Move[] {
  const { layers: now, value, idle } = evaluated
  const moves: Move[] = []
  for (let token = 2; token < now.length; token++) {
    for (let to = 1; to < hopsMax; to++) {
      if (to === now[token]) continue
      const layers = Uint8Array.from(now)
      layers[token] = to
      const worth = idle[token] === 1 ? worthBetween(evaluated, layers, token) : (value[token] as number)
      if (worth === null) continue
      const moved = worth === value[token] ? value : Float64Array.from(value)
      moved[token] = worth
      moves.push(createMove(evaluated, layers, moved))
    }
  }
  return moves
}

/** Of a token that nothing flows through: between what it costs and what it brings at these levels; null = costs more. */
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

/** What a further unit brings: where a pool trades, as much as the values say. */
const priceAfter =
  ({ unlayered, layers, value, earning }: Omit<EvaluatedFlow, 'idle' | 'incident'>) =>
  (pair: number): number =>
    isAllowed(unlayered, layers, pair) && (earning[pair] as number) > 0
      ? (value[unlayered.from[pair] as number] as number) / (value[unlayered.to[pair] as number] as number)
      : (unlayered.market.price[unlayered.pairs[pair] as number] as number)

/** Of each pair, after this flow. */
export const pricesAfter = (unlayered: Subproblem, flow: LayeredFlow): ((pair: number) => number) =>
  priceAfter(evaluatePairs(unlayered, flow, []))

function pathMoves(evaluated: EvaluatedFlow, hopsMax: number): Move[] {
  const { unlayered, layers: now, value, idle } = evaluated
  const price = priceAfter(evaluated)
  return bestDetours(unlayered, price, hopsMax, (value[0] as number) * (1 + NEGLIGIBLE)).flatMap(({ pairs, product }) => {
    const tokens = pairs.slice(0, -1).map((pair) => unlayered.to[pair] as number)
    // The path's gain is spread evenly over its hops.
    const hopFactor = ((value[0] as number) / product) ** (1 / pairs.length)
    const values = Float64Array.from(value)
    let worth = value[0] as number
    for (const [hop, token] of tokens.entries()) {
      worth /= price(pairs[hop] as number) * hopFactor
      if (idle[token] === 1) values[token] = worth
    }
    return increasingSequences(tokens.length, hopsMax - 1).map((pathLayers) => {
      const layers = Uint8Array.from(now)
      for (const [hop, token] of tokens.entries()) layers[token] = pathLayers[hop] as number
      return createMove(evaluated, layers, values)
    })
  })
}

/** All ways to choose `count` rising numbers of 1 … most. */
function increasingSequences(count: number, most: number): number[][] {
  if (count === 0) return [[]]
  return Array.from({ length: Math.max(0, most - count + 1) }, (_, index) => index + count).flatMap((last) =>
    increasingSequences(count - 1, last - 1).map((first) => [...first, last]),
  )
}
