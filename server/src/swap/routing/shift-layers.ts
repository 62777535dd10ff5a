import { solveDual } from './dual.ts'
import { isBestByHops } from './hop-limited-dual.ts'
import { bestDetours } from './seed-detours.ts'
import { incidentPairs, keepPairs, type Problem, tradePair } from './subproblem.ts'

/** A problem of swaps alone that lead to a higher level, and what it pays. */
export type Leveled = Readonly<{ problem: Problem; levels: Uint8Array; bound: number }>

export type LevelOptions = Readonly<{ hopsMax: number; gasPrice: number; isOver: () => boolean }>

/** Solves with the swaps alone that lead to a higher level. `value` is where the search begins. */
export function level(free: Problem, levels: Uint8Array, amount: number, value: Float64Array): Leveled {
  const kept = keepPairs(free, (from, to) => (levels[from] as number) < (levels[to] as number))
  const problem = { ...kept, value: value.slice() }
  return { problem, levels, bound: solveDual(problem, amount) }
}

/** What the limit of hops may cost without another look, and what is no gain, in parts of the output. */
const NEGLIGIBLE = 1e-9
/** Gas that no further look is taken for: a sixth of what the cheapest swap costs. */
const GAS_NEGLIGIBLE = 10_000
const ACCEPTED_MAX = 60
const TRIES_MAX = 100

/**
 * Where the limit of hops costs something: moves single tokens to other levels, or all tokens of a path that would pay more than
 * the route does, as long as that helps.
 *
 * At the present values another assignment pays at most the present bound, less what the pools earn that it shuts off, and
 * with what those would earn that it opens: what cannot help is not solved. What promises most is tried first.
 */
export function shiftLevels(
  free: Problem,
  begun: Leveled,
  amount: number,
  unlimited: number,
  { hopsMax, gasPrice, isOver }: LevelOptions,
): Leveled {
  const incident = incidentPairs(free)
  let best = begun
  for (let accepted = 0; accepted < ACCEPTED_MAX && !isOver(); accepted++) {
    const least = Math.max(best.bound * NEGLIGIBLE, gasPrice * GAS_NEGLIGIBLE)
    if (unlimited - best.bound <= least) return best
    const here = look(free, best, incident)
    if (hopsMax > 2 && isBestByHops(free, amount, hopsMax, { price: priceAfter(here), paid: best.bound })) return best
    const moves = [...tokenMoves(here, hopsMax), ...pathMoves(here, hopsMax)].filter(({ promised }) => promised > least)
    let better: Leveled | null = null
    for (const { levels, value } of moves.sort((a, b) => b.promised - a.promised).slice(0, TRIES_MAX)) {
      if (isOver()) return best
      const moved = level(free, levels, amount, value)
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
type Valued = Readonly<{
  free: Problem
  incident: readonly (readonly number[])[]
  levels: Uint8Array
  value: Float64Array
  earning: Float64Array
  /** Tokens through which nothing flows: their values say nothing. */
  idle: Uint8Array
}>

const trade = { in: 0, out: 0, earned: 0, give: 0 }

function earningOf(problem: Problem, pair: number): number {
  tradePair(problem, pair, trade)
  return trade.earned * (problem.value[problem.from[pair] as number] as number)
}

const isOpen = ({ from, to }: Problem, levels: Uint8Array, pair: number): boolean =>
  (levels[from[pair] as number] as number) < (levels[to[pair] as number] as number)

function look(free: Problem, { problem, levels }: Leveled, incident: Valued['incident']): Valued {
  const { value } = problem
  const all = { ...free, value }
  const earning = new Float64Array(free.pairs.length)
  for (let pair = 0; pair < earning.length; pair++) earning[pair] = earningOf(all, pair)
  const idle = new Uint8Array(value.length).fill(1)
  for (let pair = 0; pair < earning.length; pair++)
    if (isOpen(free, levels, pair) && (earning[pair] as number) > 0)
      idle[free.from[pair] as number] = idle[free.to[pair] as number] = 0
  return { free, incident, levels, value, earning, idle }
}

type Move = Readonly<{
  levels: Uint8Array
  value: Float64Array
  /** What it adds at most, in units of the target. */
  promised: number
}>

/** `value` may differ at idle tokens alone. */
function moveOf({ free, incident, levels: now, earning, idle }: Valued, levels: Uint8Array, value: Float64Array): Move {
  const { from, to } = free
  const all = { ...free, value }
  let promised = 0
  for (let token = 0; token < levels.length; token++) {
    if (levels[token] === now[token]) continue
    for (const pair of incident[token] as readonly number[]) {
      const [a, b] = [from[pair] as number, to[pair] as number]
      const other = a === token ? b : a
      // Counted with the other token, where that changes, too.
      if (other < token && levels[other] !== now[other]) continue
      const isNew = idle[a] === 1 || idle[b] === 1
      if (isOpen(free, levels, pair)) promised += isNew ? earningOf(all, pair) : (earning[pair] as number)
      if (isOpen(free, now, pair)) promised -= earning[pair] as number
    }
  }
  return { levels, value, promised }
}

function tokenMoves(here: Valued, hopsMax: number): Move[] {
  const { levels: now, value, idle } = here
  const moves: Move[] = []
  for (let token = 2; token < now.length; token++) {
    for (let to = 1; to < hopsMax; to++) {
      if (to === now[token]) continue
      const levels = Uint8Array.from(now)
      levels[token] = to
      const worth = idle[token] === 1 ? worthBetween(here, levels, token) : (value[token] as number)
      if (worth === null) continue
      const moved = worth === value[token] ? value : Float64Array.from(value)
      moved[token] = worth
      moves.push(moveOf(here, levels, moved))
    }
  }
  return moves
}

/** Of a token that nothing flows through: between what it costs and what it brings at these levels; null = costs more. */
function worthBetween({ free, incident, value }: Valued, levels: Uint8Array, token: number): number | null {
  let cost = Number.POSITIVE_INFINITY
  let worth = 0
  for (const pair of incident[token] as readonly number[]) {
    if (!isOpen(free, levels, pair)) continue
    const price = free.market.price[free.pairs[pair] as number] as number
    if (free.to[pair] === token) cost = Math.min(cost, (value[free.from[pair] as number] as number) / price)
    else worth = Math.max(worth, (value[free.to[pair] as number] as number) * price)
  }
  return worth > cost ? Math.sqrt(worth * cost) : null
}

/** What a further unit brings: where a pool trades, as much as the values say. */
const priceAfter =
  ({ free, levels, value, earning }: Omit<Valued, 'idle' | 'incident'>) =>
  (pair: number): number =>
    isOpen(free, levels, pair) && (earning[pair] as number) > 0
      ? (value[free.from[pair] as number] as number) / (value[free.to[pair] as number] as number)
      : (free.market.price[free.pairs[pair] as number] as number)

/** Of each pair, after this flow. */
export const pricesAfter = (free: Problem, flow: Leveled): ((pair: number) => number) =>
  priceAfter(look(free, flow, []))

function pathMoves(here: Valued, hopsMax: number): Move[] {
  const { free, levels: now, value, idle } = here
  const price = priceAfter(here)
  return bestDetours(free, price, hopsMax, (value[0] as number) * (1 + NEGLIGIBLE)).flatMap(({ pairs, product }) => {
    const tokens = pairs.slice(0, -1).map((pair) => free.to[pair] as number)
    // The path's gain is spread evenly over its hops.
    const each = ((value[0] as number) / product) ** (1 / pairs.length)
    const worths = Float64Array.from(value)
    let worth = value[0] as number
    for (const [hop, token] of tokens.entries()) {
      worth /= price(pairs[hop] as number) * each
      if (idle[token] === 1) worths[token] = worth
    }
    return rising(tokens.length, hopsMax - 1).map((places) => {
      const levels = Uint8Array.from(now)
      for (const [hop, token] of tokens.entries()) levels[token] = places[hop] as number
      return moveOf(here, levels, worths)
    })
  })
}

/** All ways to choose `count` rising numbers of 1 … most. */
function rising(count: number, most: number): number[][] {
  if (count === 0) return [[]]
  return Array.from({ length: Math.max(0, most - count + 1) }, (_, index) => index + count).flatMap((last) =>
    rising(count - 1, last - 1).map((first) => [...first, last]),
  )
}
