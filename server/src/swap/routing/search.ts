import { findColumns } from './column-generation.ts'
import { solveAnew, solveDual } from './dual.ts'
import { routeByHops } from './hop-limited-dual.ts'
import { assignLevels } from './layering.ts'
import { likelyPaths } from './likely-paths.ts'
import { curveAt, type Market } from './market.ts'
import { bestNetPath, bestPaths, type Path } from './paths.ts'
import { byEarning, prune, without } from './prune.ts'
import { type Leveled, level, pricesAfter, shiftLevels } from './shift-layers.ts'
import {
  type Active,
  activeSwaps,
  createProblem,
  hasCircle,
  type Problem,
  seedProblem,
  tradePair,
} from './subproblem.ts'

/** Pools that a unit goes through, and swaps of one route, in production: more swaps are hardly ever worth their gas. */
export const HOPS_MAX = 4
export const SWAPS_MAX = 24

export type SearchOptions = Readonly<{
  hopsMax: number
  /** Swaps of one route at most. */
  swapsMax: number
  /** What one unit of gas costs, in base units of the target. 0 = gas is free. */
  gasPrice: number
  /** True when time is up: the best found so far is given. */
  isOver: () => boolean
}>

/** Swaps in the order of their execution; `share` of what is then there of the token that goes in, 1 = all that is left. */
export type Split = readonly Readonly<{ edge: number; share: number }>[]

export type Found = Readonly<{
  /** Routes worth being computed exactly, most promising first. */
  candidates: readonly Split[]
  /** No route without gas through the pools looked at pays more. */
  bound: number
  /** More than the pools take: of the last of it nothing comes. */
  tooMuch: boolean
}>

const ROUNDS_MAX = 8
/** A source whose whole amount is worth this share of the output is left over. */
const SPENT = 1e-6
/** How near to what the pools take at most is looked, in parts of it, and how often. */
const CLOSE = 1e-2
const LOOKS_MAX = 16
const TOKENS_MAX = 40
/** A detour must promise this share of the output. */
const WORTH_LOOKING = 1e-8
/** What the limit of hops may cost without another look, in parts of the output. */
const NEGLIGIBLE = 1e-9

/** Looks for the routes that pay most, net of gas. Reads the market alone: the same market gives the same routes. */
export function search(market: Market, source: number, target: number, amount: number, options: SearchOptions): Found {
  const begun = begin(market, source, target, amount, options.hopsMax)
  if (begun === null) return { candidates: [], bound: 0, tooMuch: false }
  const whole = { ...widen(market, begun, source, amount, options), amount }
  const tooMuch = isLeftOver(whole)
  const { problem, bound, amount: taken } = tooMuch ? findTaken(market, source, target, whole, options) : whole
  const single = singlePath(problem, amount, options)
  const splits = settle(problem, single, taken, bound, options)
  const candidates = [...splits]
  // The two are mostly one, and a split may be it, too: each is computed exactly once.
  for (const path of [single, otherPath(problem, amount, options)])
    if (path !== null && !candidates.some((split) => isPath(split, path)))
      candidates.push(path.edges.map((edge) => ({ edge, share: 1 })))
  return { candidates, bound: whole.bound, tooMuch }
}

const isPath = (split: Split, { edges }: Path): boolean =>
  split.length === edges.length && split.every(({ edge, share }, hop) => share === 1 && edge === edges[hop])

/**
 * The best single path where it may go through tokens that no split has a use for, as where a swap more costs more than it
 * brings; and where time is up, for then hardly a token was looked at but those of the likely paths.
 */
function otherPath(
  { market, tokens: [source = 0, target = 0] }: Problem,
  amount: number,
  options: SearchOptions,
): Path | null {
  if (options.gasPrice === 0 && !options.isOver()) return null
  const others = Array.from({ length: market.tokenCount }, (_, token) => token)
  const tokens = [...new Set([source, target, ...others])]
  const values = new Array<number>(tokens.length).fill(1)
  return singlePath(createProblem(market, tokens, values, new Int32Array(market.tokenCount)), amount, options)
}

function singlePath(problem: Problem, amount: number, { hopsMax, gasPrice }: SearchOptions): Path | null {
  if (gasPrice > 0) return bestNetPath(problem, amount, hopsMax, gasPrice)
  const paths = bestPaths(problem, amount, hopsMax)
  return paths.reduce<Path | null>((a, b) => (a === null || b.output > a.output ? b : a), null)
}

/** Begins with the paths of a part of the amount: the whole would take only what is deep. */
function begin(market: Market, source: number, target: number, amount: number, hopsMax: number): Problem | null {
  const paths = likelyPaths(market, source, target, amount / 8, hopsMax)
  return paths.length === 0 ? null : seedProblem(market, source, target, paths)
}

/**
 * Solves, looks for tokens through which it would pay to go, takes them in, and again until there are none. Where swaps that go
 * round in a circle earn, free tokens come out of it and the values say nothing of what a route pays: then every swap pays toll.
 */
function widen(
  market: Market,
  begun: Problem,
  source: number,
  amount: number,
  options: SearchOptions,
): { problem: Problem; bound: number } {
  let problem = begun
  const valueAt = new Float64Array(market.tokenCount)
  for (let round = 0; ; round++) {
    const solved = solveWithoutCircles(problem, amount)
    const { bound } = solved
    const { arrives } = solved.problem
    problem = solved.problem
    const isLast = round === ROUNDS_MAX || problem.tokens.length >= TOKENS_MAX || options.isOver()
    const values = new Map(problem.tokens.map((token, index) => [token, problem.value[index] as number]))
    // Worth nothing where these pools take no more of it: elsewhere it is worth as much as on average here.
    if ((values.get(source) as number) * amount < SPENT * bound) values.set(source, bound / amount)
    for (const [token, value] of values) valueAt[token] = value
    const columns = isLast ? [] : findColumns(market, problem.tokens, valueAt, WORTH_LOOKING * bound, arrives)
    if (columns.length === 0) return { problem, bound: arrives === 1 ? bound : freeBound(problem, amount) }
    for (const column of columns)
      for (const [index, token] of column.tokens.entries())
        if (!values.has(token)) values.set(token, column.values[index] as number)
    problem = { ...createProblem(market, [...values.keys()], [...values.values()], problem.place), arrives }
  }
}

type Solved = Readonly<{ problem: Problem; bound: number; amount: number }>

const isLeftOver = ({ problem, bound, amount }: Solved): boolean =>
  (problem.value[0] as number) * amount < SPENT * bound

/**
 * The same with as much of the amount as brings nearly all that any brings: at values of next to nothing no flow shows where the
 * rest went. Whoever executes such a split with the whole amount finds what still takes more.
 */
function findTaken(market: Market, source: number, target: number, whole: Solved, options: SearchOptions): Solved {
  const { hopsMax, isOver } = options
  let [low, high] = [0, Math.min(whole.amount, takenOf(whole.problem))]
  let found = whole
  for (let look = 0; look < LOOKS_MAX && high - low > CLOSE * high && !isOver(); look++) {
    const amount = low === 0 ? high / 2 : (low + high) / 2
    const begun = begin(market, source, target, amount, hopsMax)
    if (begun === null) break
    const solved = { ...widen(market, begun, source, amount, options), amount }
    if (isLeftOver(solved)) {
      high = amount
      continue
    }
    low = amount
    if (solved.bound > whole.bound * (1 - CLOSE)) found = solved
  }
  return found
}

const trade = { in: 0, out: 0, earned: 0, give: 0 }

/** How much of the source the pools take at the present values. */
const takenOf = (problem: Problem): number =>
  problem.from.reduce((sum, token, pair) => {
    if (token !== 0) return sum
    tradePair(problem, pair, trade)
    return sum + trade.in
  }, 0)

/** What arrives of what a swap pays, where a higher share would let circles earn. */
const TOLLS = [1, 0.999, 0.996, 0.984, 0.94]

function solveWithoutCircles(begun: Problem, amount: number): { problem: Problem; bound: number } {
  for (const arrives of TOLLS) {
    if (arrives > begun.arrives) continue
    const problem = { ...begun, arrives, value: begun.value.slice() }
    const bound = solveAnew(problem, amount)
    if (arrives === TOLLS.at(-1) || !hasCircle(problem)) return { problem, bound }
  }
  return { problem: begun, bound: 0 }
}

const freeBound = (problem: Problem, amount: number): number =>
  solveDual({ ...problem, arrives: 1, value: problem.value.slice() }, amount)

/** Makes routes of a flow: no circles, no path too long, no swap that does not earn its gas, not too many. */
function settle(
  flow: Problem,
  single: Path | null,
  amount: number,
  unlimited: number,
  options: SearchOptions,
): readonly Split[] {
  const levels = assignLevels(activeSwaps(flow, unlimited), flow.tokens.length, options.hopsMax)
  const free = { ...flow, arrives: 1 }
  let best = level(free, levels, amount, free.value)
  // Cut to the hops allowed, a flow of longer paths may hold none at all: then the best path's own levels are a better beginning.
  if (single !== null && best.bound < single.output)
    best = level(free, levelsOf(flow, single, levels), amount, flow.value)
  best = shiftLevels(free, best, amount, unlimited, options)
  // Where circles earn, the flow would be theirs.
  const split = flow.arrives === 1 ? byHops(free, best, amount, unlimited, options) : null
  best = trim(best, amount, options)
  const unshared = withoutSharing(best, amount)
  const leveled = [best, ...(unshared === null ? [] : [trim(unshared, amount, options)])].map(toSplit)
  return [split, ...leveled].filter((one) => one !== null)
}

/** Where the limit of hops still costs something and gas is free: the best flow of paths of so many hops. */
function byHops(
  free: Problem,
  leveled: Leveled,
  amount: number,
  unlimited: number,
  options: SearchOptions,
): Split | null {
  const { hopsMax, swapsMax, gasPrice, isOver } = options
  if (gasPrice > 0 || hopsMax < 3 || unlimited - leveled.bound <= unlimited * NEGLIGIBLE) return null
  const known = { price: pricesAfter(free, leveled), paid: leveled.bound }
  const split = routeByHops(free, amount, hopsMax, known, isOver)
  return split !== null && split.length <= swapsMax ? split : null
}

/** The same levels, but those of a path's tokens rise along it. */
function levelsOf({ market, place }: Problem, { edges }: Path, levels: Uint8Array): Uint8Array {
  const along = Uint8Array.from(levels)
  for (const [hop, edge] of edges.slice(0, -1).entries())
    along[(place[market.pairTo[market.pairOf[edge] as number] as number] as number) - 1] = hop + 1
  return along
}

const trim = (begun: Leveled, amount: number, options: SearchOptions): Leveled => {
  const few = limit(begun, amount, options)
  return options.gasPrice > 0 ? prune(few, amount, options) : few
}

const SHARED_ROUNDS_MAX = 4

/**
 * A pool of several tokens is several edges that know nothing of each other: used twice it pays less than was reckoned with. The
 * same with each such pool's best edge alone; null where no pool is used twice. Which pays more, exact execution shows.
 */
function withoutSharing(begun: Leveled, amount: number): Leveled | null {
  let best = begun
  for (let round = 0; round < SHARED_ROUNDS_MAX; round++) {
    const { market } = best.problem
    const chosen = new Map<number, number>()
    const lesser: number[] = []
    for (const { edge } of [...activeSwaps(best.problem, best.bound)].sort((a, b) => byEarning(b, a))) {
      const pool = market.pool[edge] as number
      if (chosen.has(pool)) lesser.push(edge)
      else chosen.set(pool, edge)
    }
    if (lesser.length === 0) break
    best = without(best, lesser, amount)
  }
  return best === begun ? null : best
}

/** Takes the swaps away that earn least until few enough are left: half of what is too much at a time. */
function limit(begun: Leveled, amount: number, { swapsMax }: SearchOptions): Leveled {
  let best = begun
  for (;;) {
    const active = activeSwaps(best.problem, best.bound)
    if (active.length <= swapsMax) return best
    const tooMany = Math.ceil((active.length - swapsMax) / 2)
    best = without(
      best,
      [...active]
        .sort(byEarning)
        .slice(0, tooMany)
        .map(({ edge }) => edge),
      amount,
    )
  }
}

/** A pool that takes so little more is at its end. */
const FULL = 1e-3

/** Swaps from level to level; the last swap out of each token takes what is left of it, and is one that can take more. */
function toSplit({ problem, levels, bound }: Leveled): Split | null {
  const roomOf = ({ edge, taken }: Active) => {
    const { startIn, price } = curveAt(problem.market, edge)
    return (startIn[price.length] as number) / taken - 1
  }
  const swaps = activeSwaps(problem, bound).map((one) => ({ ...one, full: roomOf(one) < FULL ? 1 : 0 }))
  const sorted = swaps.sort(
    (a, b) =>
      (levels[a.from] as number) - (levels[b.from] as number) ||
      a.from - b.from ||
      b.full - a.full ||
      b.worth - a.worth ||
      a.edge - b.edge,
  )
  if (sorted.length === 0) return null
  const left = new Float64Array(problem.tokens.length)
  for (const { from, worth } of sorted) left[from] = (left[from] as number) + worth
  return sorted.map(({ edge, from, worth }, index) => {
    const share = sorted[index + 1]?.from === from ? worth / (left[from] as number) : 1
    left[from] = (left[from] as number) - worth
    return { edge, share }
  })
}
