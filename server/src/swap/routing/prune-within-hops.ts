import { type HopLimitedFlow, solveWithinHops } from './hop-limited-dual.ts'
import { curveAt } from './market.ts'
import { type OrderedSwaps, orderSwaps } from './order-swaps.ts'
import { GAIN_MIN, GAS_NEGLIGIBLE, type LayeredFlow, pricesAfter } from './shift-layers.ts'
import { activeSwaps, createSubproblem, type Subproblem } from './subproblem.ts'

/** Precision of the dual, relative to the output. With gas, choosing other swaps matters more. */
const PRECISION = 1e-10
const PRECISION_WITH_GAS = 1e-8
/** With gas, a smaller possible gain is ignored, relative to the output. */
const GAIN_WITH_GAS_MIN = 3e-7

export type HopLimits = Readonly<{ hopsMax: number; swapsMax: number; gasPrice: number; isOver: () => boolean }>

/** Solutions of the hop-limited dual for one route. */
const ROUNDS_MAX = 8
/** Swaps that earn less than this share of their gas are removed together. */
const EARNING_TO_GAS_MIN = 0.5

/**
 * The best split of the hop-limited dual, net of gas and within the limit of swaps, or null if it is not better than the layered flow that
 * nets `netToBeat`. Removes swaps that do not earn their gas and solves again.
 */
export function pruneWithinHops(
  unlayered: Subproblem,
  flow: LayeredFlow,
  netToBeat: number,
  amount: number,
  limits: HopLimits,
): OrderedSwaps | null {
  const { hopsMax, swapsMax, gasPrice, isOver } = limits
  let subproblem = gasPrice === 0 ? unlayered : withWorthwhileTokens(unlayered, flow, gasPrice)
  const price = pricesOf(unlayered, subproblem, flow)
  let reference = { price, output: flow.bound }
  const precision = gasPrice > 0 ? PRECISION_WITH_GAS : PRECISION
  let best: OrderedSwaps | null = null
  let most = netToBeat * (1 + GAIN_MIN)
  for (let round = 0; round < ROUNDS_MAX && !isOver(); round++) {
    const least =
      round === 0 && gasPrice > 0 ? Math.max(GAIN_WITH_GAS_MIN, (gasPrice * GAS_NEGLIGIBLE) / flow.bound) : 0
    const solved = solveWithinHops(subproblem, amount, hopsMax, reference, { least, precision, isOver })
    if (solved === null) break
    const swaps = swapsOf(subproblem, solved, gasPrice)
    const net = swaps.reduce((sum, { gas }) => sum - gas, solved.bound)
    const earned = swaps.reduce((sum, { earning }) => sum + earning, 0)
    const netBound = swaps
      .slice(-swapsMax)
      .reduce((sum, { gas, earning }) => sum + Math.max(0, earning - gas), solved.bound - earned)
    if (swaps.length <= swapsMax && net > most) {
      most = net
      best = orderSwaps(solved.uses, subproblem.value.length)
    }
    const removed = leastUseful(swaps, swapsMax)
    // By the dual, no choice of these swaps within the limit nets more than `netBound`.
    if (removed.length === 0 || netBound <= most) break
    const lost = removed.reduce((sum, { earning }) => sum + earning, 0)
    // What pays no more than `most` before gas is of no use.
    reference = { price, output: Math.max(solved.bound / 2, Math.min(solved.bound - 2 * lost, most)) }
    const banned = new Set([...subproblem.banned, ...removed.map(({ edge }) => edge)])
    // Above the limit, other swaps would take the place of the removed ones.
    if (swaps.length > swapsMax) for (const edge of unusedEdges(subproblem, swaps)) banned.add(edge)
    subproblem = { ...subproblem, banned }
  }
  return best
}

type PricedSwap = Readonly<{ edge: number; earning: number; gas: number }>

/** The swaps of a flow, each once, the least useful first. */
function swapsOf({ market }: Subproblem, { uses }: HopLimitedFlow, gasPrice: number): readonly PricedSwap[] {
  const earnings = new Map<number, number>()
  for (const { edge, earning } of uses) earnings.set(edge, (earnings.get(edge) ?? 0) + earning)
  return [...earnings]
    .map(([edge, earning]) => ({ edge, earning, gas: gasPrice * curveAt(market, edge).gas }))
    .sort((a, b) => a.earning - a.gas - (b.earning - b.gas) || a.edge - b.edge)
}

function unusedEdges({ market, pairs }: Subproblem, swaps: readonly PricedSwap[]): readonly number[] {
  const used = new Set(swaps.map(({ edge }) => edge))
  const unused: number[] = []
  for (const pair of pairs)
    for (let edge = market.firstEdge[pair] as number; edge < (market.firstEdge[pair + 1] as number); edge++)
      if (!used.has(edge)) unused.push(edge)
  return unused
}

/** The swaps above the limit, or half of those far below their gas; otherwise the one that loses most. */
function leastUseful(swaps: readonly PricedSwap[], swapsMax: number): readonly PricedSwap[] {
  const useless = swaps.filter(({ earning, gas }) => earning < EARNING_TO_GAS_MIN * gas).length
  const removed = Math.max(swaps.length - swapsMax, Math.ceil(useless / 2))
  if (removed > 0) return swaps.slice(0, removed)
  return swaps.filter(({ earning, gas }) => earning < gas).slice(0, 1)
}

/** Only tokens of swaps that may earn their gas: the hop-limited dual has a variable for each token and hop. */
function withWorthwhileTokens(unlayered: Subproblem, flow: LayeredFlow, gasPrice: number): Subproblem {
  const { market, tokens, value } = unlayered
  const used = new Set([0, 1])
  const least = GAIN_WITH_GAS_MIN * flow.bound
  for (const { from, to, edge, earning } of [
    ...activeSwaps(unlayered, flow.bound),
    ...activeSwaps(flow.subproblem, flow.bound),
  ])
    if (earning >= Math.max(least, EARNING_TO_GAS_MIN * gasPrice * curveAt(market, edge).gas)) used.add(from).add(to)
  const kept = [...used]
  const pick = <T>(all: ArrayLike<T>): T[] => kept.map((index) => all[index] as T)
  return createSubproblem(market, pick(tokens), pick(value), new Int32Array(market.tokenCount))
}

/** Marginal price after the flow, by pair of the smaller subproblem. */
function pricesOf(unlayered: Subproblem, smaller: Subproblem, flow: LayeredFlow): (pair: number) => number {
  const price = pricesAfter(unlayered, flow)
  if (smaller === unlayered) return price
  const indexOf = new Map([...unlayered.pairs].map((pair, index) => [pair, index]))
  return (pair) => price(indexOf.get(smaller.pairs[pair] as number) as number)
}
