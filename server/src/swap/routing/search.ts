import { findColumns } from './column-generation.ts'
import { solveWithRestart, solveDual } from './dual.ts'
import { routeWithinHops } from './hop-limited-dual.ts'
import { assignLayers } from './layering.ts'
import { likelyPaths } from './likely-paths.ts'
import { curveAt, type Market } from './market.ts'
import { bestNetPath, bestPaths, type Path } from './paths.ts'
import { byEarning, prune, banEdges } from './prune.ts'
import { type LayeredFlow, solveLayered, pricesAfter, shiftLayers } from './shift-layers.ts'
import {
  type ActiveSwap,
  activeSwaps,
  createSubproblem,
  hasCycle,
  type Subproblem,
  seedSubproblem,
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

export type SearchResult = Readonly<{
  /** Routes worth being computed exactly, most promising first. */
  candidates: readonly Split[]
  /** No route without gas through the pools looked at pays more. */
  bound: number
  /** More than the pools take: of the last of it nothing comes. */
  exceedsLiquidity: boolean
}>

const ROUNDS_MAX = 8
/** A source whose whole amount is worth this share of the output is left over. */
const UNSPENT_SHARE = 1e-6
/** How near to what the pools take at most is looked, in parts of it, and how often. */
const CAPACITY_TOLERANCE = 1e-2
const BISECTIONS_MAX = 16
const TOKENS_MAX = 40
/** A detour must promise this share of the output. */
const COLUMN_GAIN_MIN = 1e-8
/** What the limit of hops may cost without another look, in parts of the output. */
const NEGLIGIBLE = 1e-9

/** Looks for the routes that pay most, net of gas. Reads the market alone: the same market gives the same routes. */
export function search(market: Market, source: number, target: number, amount: number, options: SearchOptions): SearchResult {
  const initial = createFirstSubproblem(market, source, target, amount, options.hopsMax)
  if (initial === null) return { candidates: [], bound: 0, exceedsLiquidity: false }
  const whole = { ...generateColumns(market, initial, source, amount, options), amount }
  const exceedsLiquidity = hasUnspentInput(whole)
  const { subproblem, bound, amount: amountIn } = exceedsLiquidity ? findCapacity(market, source, target, whole, options) : whole
  const single = singlePath(subproblem, amount, options)
  const splits = buildSplits(subproblem, single, amountIn, bound, options)
  const candidates = [...splits]
  // The two are mostly one, and a split may be it, too: each is computed exactly once.
  for (const path of [single, otherPath(subproblem, amount, options)])
    if (path !== null && !candidates.some((split) => isPath(split, path)))
      candidates.push(path.edges.map((edge) => ({ edge, share: 1 })))
  return { candidates, bound: whole.bound, exceedsLiquidity }
}

const isPath = (split: Split, { edges }: Path): boolean =>
  split.length === edges.length && split.every(({ edge, share }, hop) => share === 1 && edge === edges[hop])

/**
 * The best single path where it may go through tokens that no split has a use for, as where a swap more costs more than it
 * brings; and where time is up, for then hardly a token was looked at but those of the likely paths.
 */
function otherPath(
  { market, tokens: [source = 0, target = 0] }: Subproblem,
  amount: number,
  options: SearchOptions,
): Path | null {
  if (options.gasPrice === 0 && !options.isOver()) return null
  const others = Array.from({ length: market.tokenCount }, (_, token) => token)
  const tokens = [...new Set([source, target, ...others])]
  const values = new Array<number>(tokens.length).fill(1)
  return singlePath(createSubproblem(market, tokens, values, new Int32Array(market.tokenCount)), amount, options)
}

function singlePath(subproblem: Subproblem, amount: number, { hopsMax, gasPrice }: SearchOptions): Path | null {
  if (gasPrice > 0) return bestNetPath(subproblem, amount, hopsMax, gasPrice)
  const paths = bestPaths(subproblem, amount, hopsMax)
  return paths.reduce<Path | null>((a, b) => (a === null || b.output > a.output ? b : a), null)
}

/** Begins with the paths of a part of the amount: the whole would take only what is deep. */
function createFirstSubproblem(market: Market, source: number, target: number, amount: number, hopsMax: number): Subproblem | null {
  const paths = likelyPaths(market, source, target, amount / 8, hopsMax)
  return paths.length === 0 ? null : seedSubproblem(market, source, target, paths)
}

/**
 * Solves, looks for tokens through which it would pay to go, takes them in, and again until there are none. Where swaps that go
 * round in a circle earn, free tokens come out of it and the values say nothing of what a route pays: then every swap pays toll.
 */
function generateColumns(
  market: Market,
  initial: Subproblem,
  source: number,
  amount: number,
  options: SearchOptions,
): { subproblem: Subproblem; bound: number } {
  let subproblem = initial
  const valueAt = new Float64Array(market.tokenCount)
  for (let round = 0; ; round++) {
    const solved = solveWithoutCycles(subproblem, amount)
    const { bound } = solved
    const { tollFactor } = solved.subproblem
    subproblem = solved.subproblem
    const isLast = round === ROUNDS_MAX || subproblem.tokens.length >= TOKENS_MAX || options.isOver()
    const values = new Map(subproblem.tokens.map((token, index) => [token, subproblem.value[index] as number]))
    // Worth nothing where these pools take no more of it: elsewhere it is worth as much as on average here.
    if ((values.get(source) as number) * amount < UNSPENT_SHARE * bound) values.set(source, bound / amount)
    for (const [token, value] of values) valueAt[token] = value
    const columns = isLast ? [] : findColumns(market, subproblem.tokens, valueAt, COLUMN_GAIN_MIN * bound, tollFactor)
    if (columns.length === 0) return { subproblem, bound: tollFactor === 1 ? bound : boundWithoutToll(subproblem, amount) }
    for (const column of columns)
      for (const [index, token] of column.tokens.entries())
        if (!values.has(token)) values.set(token, column.values[index] as number)
    subproblem = { ...createSubproblem(market, [...values.keys()], [...values.values()], subproblem.localIndex), tollFactor }
  }
}

type SolvedSubproblem = Readonly<{ subproblem: Subproblem; bound: number; amount: number }>

const hasUnspentInput = ({ subproblem, bound, amount }: SolvedSubproblem): boolean =>
  (subproblem.value[0] as number) * amount < UNSPENT_SHARE * bound

/**
 * The same with as much of the amount as brings nearly all that any brings: at values of next to nothing no flow shows where the
 * rest went. Whoever executes such a split with the whole amount finds what still takes more.
 */
function findCapacity(market: Market, source: number, target: number, whole: SolvedSubproblem, options: SearchOptions): SolvedSubproblem {
  const { hopsMax, isOver } = options
  let [low, high] = [0, Math.min(whole.amount, sourceDemand(whole.subproblem))]
  let best = whole
  for (let bisections = 0; bisections < BISECTIONS_MAX && high - low > CAPACITY_TOLERANCE * high && !isOver(); bisections++) {
    const amount = low === 0 ? high / 2 : (low + high) / 2
    const initial = createFirstSubproblem(market, source, target, amount, hopsMax)
    if (initial === null) break
    const solved = { ...generateColumns(market, initial, source, amount, options), amount }
    if (hasUnspentInput(solved)) {
      high = amount
      continue
    }
    low = amount
    if (solved.bound > whole.bound * (1 - CAPACITY_TOLERANCE)) best = solved
  }
  return best
}

const trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/** How much of the source the pools take at the present values. */
const sourceDemand = (subproblem: Subproblem): number =>
  subproblem.from.reduce((sum, token, pair) => {
    if (token !== 0) return sum
    tradePair(subproblem, pair, trade)
    return sum + trade.in
  }, 0)

/** What arrives of what a swap pays, where a higher share would let circles earn. */
const TOLL_FACTORS = [1, 0.999, 0.996, 0.984, 0.94]

function solveWithoutCycles(initial: Subproblem, amount: number): { subproblem: Subproblem; bound: number } {
  for (const tollFactor of TOLL_FACTORS) {
    if (tollFactor > initial.tollFactor) continue
    const subproblem = { ...initial, tollFactor, value: initial.value.slice() }
    const bound = solveWithRestart(subproblem, amount)
    if (tollFactor === TOLL_FACTORS.at(-1) || !hasCycle(subproblem)) return { subproblem, bound }
  }
  return { subproblem: initial, bound: 0 }
}

const boundWithoutToll = (subproblem: Subproblem, amount: number): number =>
  solveDual({ ...subproblem, tollFactor: 1, value: subproblem.value.slice() }, amount)

/** Makes routes of a flow: no circles, no path too long, no swap that does not earn its gas, not too many. */
function buildSplits(
  flow: Subproblem,
  single: Path | null,
  amount: number,
  unlimitedBound: number,
  options: SearchOptions,
): readonly Split[] {
  const layers = assignLayers(activeSwaps(flow, unlimitedBound), flow.tokens.length, options.hopsMax)
  const untolled = { ...flow, tollFactor: 1 }
  let best = solveLayered(untolled, layers, amount, untolled.value)
  // Cut to the hops allowed, a flow of longer paths may hold none at all: then the best path's own levels are a better beginning.
  if (single !== null && best.bound < single.output)
    best = solveLayered(untolled, layersAlong(flow, single, layers), amount, flow.value)
  best = shiftLayers(untolled, best, amount, unlimitedBound, options)
  // Where circles earn, the flow would be theirs.
  const split = flow.tollFactor === 1 ? splitWithinHops(untolled, best, amount, unlimitedBound, options) : null
  best = trim(best, amount, options)
  const unshared = withoutSharedPools(best, amount)
  const layered = [best, ...(unshared === null ? [] : [trim(unshared, amount, options)])].map(toSplit)
  return [split, ...layered].filter((one) => one !== null)
}

/** Where the limit of hops still costs something and gas is free: the best flow of paths of so many hops. */
function splitWithinHops(
  untolled: Subproblem,
  layered: LayeredFlow,
  amount: number,
  unlimitedBound: number,
  options: SearchOptions,
): Split | null {
  const { hopsMax, swapsMax, gasPrice, isOver } = options
  if (gasPrice > 0 || hopsMax < 3 || unlimitedBound - layered.bound <= unlimitedBound * NEGLIGIBLE) return null
  const reference = { price: pricesAfter(untolled, layered), paid: layered.bound }
  const split = routeWithinHops(untolled, amount, hopsMax, reference, isOver)
  return split !== null && split.length <= swapsMax ? split : null
}

/** The same levels, but those of a path's tokens rise along it. */
function layersAlong({ market, localIndex }: Subproblem, { edges }: Path, layers: Uint8Array): Uint8Array {
  const along = Uint8Array.from(layers)
  for (const [hop, edge] of edges.slice(0, -1).entries())
    along[(localIndex[market.pairTo[market.pairOf[edge] as number] as number] as number) - 1] = hop + 1
  return along
}

const trim = (initial: LayeredFlow, amount: number, options: SearchOptions): LayeredFlow => {
  const limited = limitSwaps(initial, amount, options)
  return options.gasPrice > 0 ? prune(limited, amount, options) : limited
}

const SHARED_ROUNDS_MAX = 4

/**
 * A pool of several tokens is several edges that know nothing of each other: used twice it pays less than was reckoned with. The
 * same with each such pool's best edge alone; null where no pool is used twice. Which pays more, exact execution shows.
 */
function withoutSharedPools(initial: LayeredFlow, amount: number): LayeredFlow | null {
  let best = initial
  for (let round = 0; round < SHARED_ROUNDS_MAX; round++) {
    const { market } = best.subproblem
    const chosen = new Map<number, number>()
    const lesser: number[] = []
    for (const { edge } of [...activeSwaps(best.subproblem, best.bound)].sort((a, b) => byEarning(b, a))) {
      const pool = market.pool[edge] as number
      if (chosen.has(pool)) lesser.push(edge)
      else chosen.set(pool, edge)
    }
    if (lesser.length === 0) break
    best = banEdges(best, lesser, amount)
  }
  return best === initial ? null : best
}

/** Takes the swaps away that earn least until few enough are left: half of what is too much at a time. */
function limitSwaps(initial: LayeredFlow, amount: number, { swapsMax }: SearchOptions): LayeredFlow {
  let best = initial
  for (;;) {
    const active = activeSwaps(best.subproblem, best.bound)
    if (active.length <= swapsMax) return best
    const tooMany = Math.ceil((active.length - swapsMax) / 2)
    best = banEdges(
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
const SATURATED = 1e-3

/** Swaps from level to level; the last swap out of each token takes what is left of it, and is one that can take more. */
function toSplit({ subproblem, layers, bound }: LayeredFlow): Split | null {
  const spareCapacity = ({ edge, amountIn }: ActiveSwap) => {
    const { startIn, price } = curveAt(subproblem.market, edge)
    return (startIn[price.length] as number) / amountIn - 1
  }
  const swaps = activeSwaps(subproblem, bound).map((one) => ({ ...one, saturated: spareCapacity(one) < SATURATED ? 1 : 0 }))
  const sorted = swaps.sort(
    (a, b) =>
      (layers[a.from] as number) - (layers[b.from] as number) ||
      a.from - b.from ||
      b.saturated - a.saturated ||
      b.worth - a.worth ||
      a.edge - b.edge,
  )
  if (sorted.length === 0) return null
  const left = new Float64Array(subproblem.tokens.length)
  for (const { from, worth } of sorted) left[from] = (left[from] as number) + worth
  return sorted.map(({ edge, from, worth }, index) => {
    const share = sorted[index + 1]?.from === from ? worth / (left[from] as number) : 1
    left[from] = (left[from] as number) - worth
    return { edge, share }
  })
}
