import { COLUMN_GAIN_MIN, COLUMN_GAS, findColumns } from './column-generation.ts'
import { solveDual, solveWithRestart } from './dual.ts'
import { addLayeredColumns } from './layered-columns.ts'
import { assignLayers } from './layering.ts'
import { hopCountsOf, likelyPaths } from './likely-paths.ts'
import { limitSwaps } from './limit-swaps.ts'
import { curveAt, type Market } from './market.ts'
import { bestNetPath, bestPaths, type Path } from './paths.ts'
import { banEdges, byEarning, prune } from './prune.ts'
import { pruneWithinHops } from './prune-within-hops.ts'
import { type LayeredFlow, shiftLayers, solveLayered } from './shift-layers.ts'
import {
  type ActiveSwap,
  activeSwaps,
  createSubproblem,
  hasCycle,
  type Subproblem,
  seedSubproblem,
  tradePair,
} from './subproblem.ts'
import { isWorseWithoutGas } from './worse-without-gas.ts'

/** Limits in production: pools that a unit passes through, and swaps of one route. More swaps are hardly ever worth their gas. */
export const HOPS_MAX = 4
export const SWAPS_MAX = 24

export type SearchOptions = Readonly<{
  hopsMax: number
  /** Most swaps in one route. */
  swapsMax: number
  /** Cost of one unit of gas, in base units of the target; 0 = gas is free. */
  gasPrice: number
  /** True when the time limit has passed: the search returns its best result so far. */
  isOver: () => boolean
}>

/** Swaps in execution order. `share` is the share of the input token's balance at that time; 1 = all that remains. */
export type Split = readonly Readonly<{ edge: number; share: number }>[]

export type SearchResult = Readonly<{
  /** Routes to execute in exact integers, most promising first. */
  candidates: readonly Split[]
  /** By token of the market, its dual price without gas, in units of the target per base unit; 0 = not looked at. */
  values: Float64Array
  /** The amount exceeds what the pools can take: its last units add no output. */
  exceedsLiquidity: boolean
}>

/** Rounds of column generation. */
const ROUNDS_MAX = 8
/** If the amount at the source's dual price is below this share of the bound, part of it remains unspent. */
const UNSPENT_SHARE = 1e-6
/** Relative precision of the capacity, and most steps of its bisection. */
const CAPACITY_TOLERANCE = 1e-2
const BISECTIONS_MAX = 16
/** Tokens of a subproblem at which column generation ends. */
const TOKENS_MAX = 80
/** Loss by the hop limit below which it is ignored, relative to the output. */
const NEGLIGIBLE = 1e-9

/**
 * Lower limits of hops that are tried too where gas costs more than this share of the output. Swaps are removed one by one, which may end
 * at many cheap swaps where a few better ones net more; with fewer hops, fewer swaps are there to begin with.
 */
const FEWER_HOPS = [3, 2]
const COSTLY_GAS = 1e-4

/**
 * Finds candidates for the route with the highest output net of gas. Those without gas are among them, unless they are proven to net
 * less, so that counting gas never costs output net of gas. Deterministic: the same market gives the same candidates.
 */
export function search(
  market: Market,
  source: number,
  target: number,
  amount: number,
  options: SearchOptions,
): SearchResult {
  const initial = createFirstSubproblem(market, source, target, amount, options.hopsMax)
  if (initial === null) return { candidates: [], values: new Float64Array(market.tokenCount), exceedsLiquidity: false }
  const whole = { ...generateColumns(market, initial, source, amount, options), amount }
  const exceedsLiquidity = hasUnspentInput(whole)
  const {
    subproblem,
    bound,
    amount: usableAmount,
  } = exceedsLiquidity ? findCapacity(market, source, target, whole, options) : whole
  const single = singlePath(subproblem, amount, options)
  const built = buildSplits(subproblem, single, usableAmount, bound, options)
  const { splits } = built
  const hasCostlyGas = options.gasPrice * mostGas(market, splits) > COSTLY_GAS * bound
  const candidates = [...splits]
  for (const hopsMax of hasCostlyGas ? FEWER_HOPS : []) {
    if (hopsMax >= options.hopsMax || options.isOver()) continue
    const fewer = { ...options, hopsMax }
    candidates.push(
      ...buildSplits(subproblem, singlePath(subproblem, amount, fewer), usableAmount, bound, fewer).splits,
    )
  }
  // Both paths are mostly the same, and a split may be that path. Each candidate is executed once.
  for (const path of [single, otherPath(subproblem, amount, options)])
    if (path !== null && !candidates.some((split) => isPath(split, path)))
      candidates.push(path.edges.map((edge) => ({ edge, share: 1 })))
  const values = new Float64Array(market.tokenCount)
  for (const [index, token] of whole.subproblem.tokens.entries()) values[token] = whole.values[index] as number
  if (options.gasPrice > 0 && !options.isOver() && !isWorseWithoutGas(subproblem, bound, built, options))
    candidates.push(...search(market, source, target, amount, { ...options, gasPrice: 0 }).candidates)
  return { candidates, values, exceedsLiquidity }
}

const mostGas = (market: Market, splits: readonly Split[]): number =>
  Math.max(0, ...splits.map((split) => split.reduce((sum, { edge }) => sum + curveAt(market, edge).gas, 0)))

const isPath = (split: Split, { edges }: Path): boolean =>
  split.length === edges.length && split.every(({ edge, share }, hop) => share === 1 && edge === edges[hop])

/**
 * The best single path over the whole market. With gas it may use tokens that no split needs, because each further swap costs gas. After
 * the time limit the subproblem has hardly more tokens than the likely paths.
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

/** The subproblem of the likely paths for an eighth of the amount; the whole amount would favour only deep pools. */
function createFirstSubproblem(
  market: Market,
  source: number,
  target: number,
  amount: number,
  hopsMax: number,
): Subproblem | null {
  const paths = likelyPaths(market, source, target, amount / 8, hopsMax)
  return paths.length === 0 ? null : seedSubproblem(market, source, target, paths)
}

/**
 * Column generation: solves the dual, adds the tokens that would improve it, and repeats until there are no such tokens. If cycles are
 * profitable they yield free tokens, and dual prices do not show what a route pays; then every swap pays a toll.
 */
function generateColumns(
  market: Market,
  initial: Subproblem,
  source: number,
  amount: number,
  options: SearchOptions,
): GeneratedColumns {
  let subproblem = initial
  const { hopsMax } = options
  const valueAt = new Float64Array(market.tokenCount)
  const hopCounts = hopCountsOf(market, source, subproblem.tokens[1] as number, hopsMax)
  for (let round = 0; ; round++) {
    const solved = solveWithoutCycles(subproblem, amount)
    const { bound } = solved
    const { tollFactor } = solved.subproblem
    subproblem = solved.subproblem
    const isLast = round === ROUNDS_MAX || subproblem.tokens.length >= TOKENS_MAX || options.isOver()
    const values = new Map(subproblem.tokens.map((token, index) => [token, subproblem.value[index] as number]))
    // A price of nearly zero means that these pools take no more of the source. Price it at its mean output instead, for other pools.
    if ((values.get(source) as number) * amount < UNSPENT_SHARE * bound) values.set(source, bound / amount)
    for (const [token, value] of values) valueAt[token] = value
    const pricing = { included: subproblem.tokens, valueAt, tollFactor, hopCounts, hopsMax }
    const columns = isLast
      ? []
      : findColumns(market, pricing, Math.max(COLUMN_GAIN_MIN * bound, options.gasPrice * COLUMN_GAS))
    if (columns.length === 0)
      return tollFactor === 1
        ? { subproblem, bound, values: subproblem.value }
        : { subproblem, ...solveWithoutToll(subproblem, amount) }
    for (const column of columns)
      for (const [index, token] of column.tokens.entries())
        if (!values.has(token)) values.set(token, column.values[index] as number)
    subproblem = {
      ...createSubproblem(market, [...values.keys()], [...values.values()], subproblem.localIndex),
      tollFactor,
    }
  }
}

/** `bound` and `values` are without toll. */
type GeneratedColumns = Readonly<{ subproblem: Subproblem; bound: number; values: Float64Array }>
type SolvedSubproblem = GeneratedColumns & Readonly<{ amount: number }>

const hasUnspentInput = ({ subproblem, bound, amount }: SolvedSubproblem): boolean =>
  (subproblem.value[0] as number) * amount < UNSPENT_SHARE * bound

/**
 * Finds by bisection the amount whose bound is nearly that of the whole amount, and its solution. At a source price of nearly zero the
 * whole amount's flow is not determined. Executed with the whole amount, the split of this flow sends the rest to pools of unlimited capacity.
 */
function findCapacity(
  market: Market,
  source: number,
  target: number,
  whole: SolvedSubproblem,
  options: SearchOptions,
): SolvedSubproblem {
  const { hopsMax, isOver } = options
  let [low, high] = [0, Math.min(whole.amount, sourceDemand(whole.subproblem))]
  let best = whole
  for (let step = 0; step < BISECTIONS_MAX && high - low > CAPACITY_TOLERANCE * high && !isOver(); step++) {
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

/** Input of the source that the pools take at current prices, in base units. */
const sourceDemand = (subproblem: Subproblem): number =>
  subproblem.from.reduce((sum, token, pair) => {
    if (token !== 0) return sum
    tradePair(subproblem, pair, trade)
    return sum + trade.in
  }, 0)

/** Toll factors, 1 − toll: the first that leaves no profitable cycle is used. */
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

function solveWithoutToll(subproblem: Subproblem, amount: number): { bound: number; values: Float64Array } {
  const values = subproblem.value.slice()
  return { bound: solveDual({ ...subproblem, tollFactor: 1, value: values }, amount), values }
}

/** `layered`: the flow before swaps are removed. `net`: what is known to remain of the output after gas. */
type BuiltSplits = Readonly<{ splits: readonly Split[]; layered: LayeredFlow; net: number }>

/**
 * Turns a flow into executable splits: without cycles, within the limits of hops and swaps, and without swaps that do not earn their gas.
 */
function buildSplits(
  flow: Subproblem,
  single: Path | null,
  amount: number,
  unlimitedBound: number,
  options: SearchOptions,
): BuiltSplits {
  const layers = assignLayers(activeSwaps(flow, unlimitedBound), flow.tokens.length, options.hopsMax)
  const tollFree = { ...flow, tollFactor: 1 }
  let best = solveLayered(tollFree, layers, amount, tollFree.value)
  // If most of the flow takes paths that are too long, its layering may pay less than the best single path. Then start from that path.
  if (single !== null && best.bound < single.output)
    best = solveLayered(tollFree, layersAlong(flow, single, layers), amount, flow.value)
  best = shiftLayers(tollFree, best, amount, unlimitedBound, options)
  const extended = addLayeredColumns(tollFree, best, amount, unlimitedBound, options)
  best = extended.flow
  const untrimmed = best
  best = trim(best, amount, options)
  // With profitable cycles the optimum of the hop-limited dual would consist of them.
  const net = netOf(best, options.gasPrice)
  const split =
    flow.tollFactor === 1 && options.hopsMax > 2 && unlimitedBound - untrimmed.bound > unlimitedBound * NEGLIGIBLE
      ? pruneWithinHops(extended.unlayered, untrimmed, net, amount, options)
      : null
  const unshared = withoutSharedPools(best, amount)
  const layeredSplits = [best, ...(unshared === null ? [] : [trim(unshared, amount, options)])].map(toSplit)
  return { splits: [split, ...layeredSplits].filter((one) => one !== null), layered: untrimmed, net }
}

const netOf = ({ subproblem, bound }: LayeredFlow, gasPrice: number): number =>
  activeSwaps(subproblem, bound).reduce((net, { edge }) => net - gasPrice * curveAt(subproblem.market, edge).gas, bound)

/** A copy of `layers` in which the layers of a path's tokens increase along it. */
function layersAlong({ market, localIndex }: Subproblem, { edges }: Path, layers: Uint8Array): Uint8Array {
  const along = Uint8Array.from(layers)
  for (const [hop, edge] of edges.slice(0, -1).entries())
    along[(localIndex[market.pairTo[market.pairOf[edge] as number] as number] as number) - 1] = hop + 1
  return along
}

const trim = (initial: LayeredFlow, amount: number, options: SearchOptions): LayeredFlow => {
  const fewer = limitSwaps(initial, amount, options)
  return options.gasPrice > 0 ? prune(fewer, amount, options) : fewer
}

/** Rounds of `withoutSharedPools`. */
const SHARED_ROUNDS_MAX = 4

/**
 * Solves again with only the most profitable edge of each pool that the route uses more than once, or returns null if there is no such
 * pool. The edges of a pool with several tokens are treated as independent, so using two of them pays less than the search predicts. Exact
 * execution decides which version pays more.
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

/** A pool is saturated if its spare capacity is below this share of its input. */
const SATURATED = 1e-3

/**
 * Orders the swaps by layer and converts flows to shares. The last swap of each token takes the remaining balance, so an unsaturated pool
 * comes last.
 */
function toSplit({ subproblem, layers, bound }: LayeredFlow): Split | null {
  const spareCapacity = ({ edge, amountIn }: ActiveSwap) => {
    const { startIn, price } = curveAt(subproblem.market, edge)
    return (startIn[price.length] as number) / amountIn - 1
  }
  const swaps = activeSwaps(subproblem, bound).map((one) => ({
    ...one,
    saturated: spareCapacity(one) < SATURATED ? 1 : 0,
  }))
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
