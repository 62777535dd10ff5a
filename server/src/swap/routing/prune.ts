import { type Trade, tradeTo } from './curve.ts'
import { solveDual } from './dual.ts'
import { curveAt } from './market.ts'
import type { LayeredFlow } from './shift-layers.ts'
import { type ActiveSwap, activeSwaps, keepPairs } from './subproblem.ts'

export type PruneOptions = Readonly<{ gasPrice: number; isOver: () => boolean }>

/** At each step so many routes are gone on with, and of each so many of the least useful swaps are tried without. */
const BEAM_WIDTH = 2
const REMOVALS_PER_ROUTE = 4
/** So many steps without a gain end it. */
const STEPS_WITHOUT_GAIN_MAX = 5
const ROUNDS_MAX = 3
/** A swap that earns less than this share of its gas is seldom worth another look. */
const EARNING_TO_GAS_MIN = 0.2
/** A gain below this share of the output is rounding. */
const GAIN_MIN = 1e-9

export const byEarning = (a: ActiveSwap, b: ActiveSwap): number => a.earning - b.earning || a.edge - b.edge

export function banEdges({ subproblem, layers }: LayeredFlow, edges: readonly number[], amount: number): LayeredFlow {
  const fewer = { ...subproblem, value: subproblem.value.slice(), banned: new Set([...subproblem.banned, ...edges]) }
  return { subproblem: fewer, layers, bound: solveDual(fewer, amount) }
}

/** A swap with what its gas costs. */
type PricedSwap = ActiveSwap & Readonly<{ gas: number }>
/** A route's output net of its gas. `loss`: what its swaps that earn less than their gas lose by that. */
type NetRoute = Readonly<{ route: LayeredFlow; active: readonly PricedSwap[]; net: number; loss: number }>

/**
 * The route that pays most net of gas: swaps are taken away one by one, of the least useful ones those whose going costs least,
 * past the first loss, too, for two swaps may be worth their gas apart and not together. Then each that went is tried again.
 */
export function prune(initial: LayeredFlow, amount: number, options: PruneOptions): LayeredFlow {
  let best = netOfGas(initial, options.gasPrice)
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const pruned = beamSearch(netOfGas(restrictTokens(best.route), options.gasPrice), amount, options)
    if (pruned.net <= best.net * (1 + GAIN_MIN)) break
    // What was out of sight may now pay.
    const { banned, value } = pruned.route.subproblem
    const subproblem = { ...initial.subproblem, banned, value: value.slice() }
    const extended = netOfGas({ ...initial, subproblem, bound: solveDual(subproblem, amount) }, options.gasPrice)
    best = pruned
    if (extended.net <= pruned.net * (1 + GAIN_MIN)) break
    best = extended
  }
  return best.route
}

function beamSearch(initial: NetRoute, amount: number, { gasPrice, isOver }: PruneOptions): NetRoute {
  let best = removeUnprofitable(initial, amount, gasPrice)
  let routes: readonly NetRoute[] = [best]
  for (let stepsWithoutGain = 0; stepsWithoutGain < STEPS_WITHOUT_GAIN_MAX && routes.length > 0 && !isOver(); stepsWithoutGain++) {
    const next = new Map<string, NetRoute>()
    for (const now of routes)
      for (const one of [...now.active].sort(byEarning).slice(0, REMOVALS_PER_ROUTE)) {
        if (!(netBoundWithout(now, one) > best.net * (1 + GAIN_MIN))) continue
        const fewer = netOfGas(banEdges(now.route, [one.edge], amount), gasPrice)
        next.set(fewer.active.map(({ edge }) => edge).join(), fewer)
      }
    routes = [...next.values()].sort((a, b) => b.net - a.net).slice(0, BEAM_WIDTH)
    const [first] = routes
    if (first === undefined || first.net <= best.net * (1 + GAIN_MIN)) continue
    best = first
    stepsWithoutGain = -1
  }
  return restoreSwaps(best, initial.active, amount, { gasPrice, isOver })
}

/**
 * What a route without this swap nets at most, whichever others go with it. At the present values a route without some swaps
 * pays at most what is left without their earnings: what goes with this one helps only where it earns less than its gas.
 */
const netBoundWithout = ({ net, loss }: NetRoute, { earning, gas }: PricedSwap): number =>
  net + loss + Math.min(0, gas - earning)

/** Half of the swaps that earn far less than their gas go at a time. */
function removeUnprofitable(initial: NetRoute, amount: number, gasPrice: number): NetRoute {
  let best = initial
  for (;;) {
    const least = best.active.filter(({ earning, gas }) => earning < EARNING_TO_GAS_MIN * gas).sort(byEarning)
    if (least.length < 2) return best
    const edges = least.slice(0, Math.ceil(least.length / 2)).map(({ edge }) => edge)
    const fewer = netOfGas(banEdges(best.route, edges, amount), gasPrice)
    if (fewer.net <= best.net) return best
    best = fewer
  }
}

/** The pairs of the tokens that it goes through are looked at, no others. */
function restrictTokens({ subproblem, layers, bound }: LayeredFlow): LayeredFlow {
  const tokens = new Set(activeSwaps(subproblem, bound).flatMap(({ from, to }) => [from, to]))
  return { subproblem: keepPairs(subproblem, (from, to) => tokens.has(from) && tokens.has(to)), layers, bound }
}

function netOfGas(route: LayeredFlow, gasPrice: number): NetRoute {
  const { subproblem, bound } = route
  const active = activeSwaps(subproblem, bound).map((one) => ({
    ...one,
    gas: gasPrice * curveAt(subproblem.market, one.edge).gas,
  }))
  const gasCost = active.reduce((sum, { gas }) => sum + gas, 0)
  const loss = active.reduce((sum, { gas, earning }) => sum + Math.max(0, gas - earning), 0)
  return { route, active, net: bound - gasCost, loss }
}

const trade: Trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/** Takes back what was taken away, swap by swap, as long as it pays. */
function restoreSwaps(initial: NetRoute, all: readonly PricedSwap[], amount: number, { gasPrice, isOver }: PruneOptions): NetRoute {
  let best = initial
  for (let hasImproved = true; hasImproved && !isOver(); ) {
    hasImproved = false
    for (const { edge, from, to, gas } of all) {
      const { subproblem } = best.route
      if (!subproblem.banned.has(edge) || isOver()) continue
      const price = (subproblem.value[from] as number) / (subproblem.value[to] as number)
      trade.in = trade.out = trade.profit = trade.sensitivity = 0
      tradeTo(curveAt(subproblem.market, edge), price, Math.sqrt(price), trade)
      // At these values it adds no more than it earns, and takes the place of no more than what loses by its gas.
      const earning = trade.profit * (subproblem.value[from] as number)
      if (earning - gas + best.loss <= best.net * GAIN_MIN) continue
      const banned = new Set(subproblem.banned)
      banned.delete(edge)
      const widened = { ...subproblem, value: subproblem.value.slice(), banned }
      const candidate = netOfGas({ ...best.route, subproblem: widened, bound: solveDual(widened, amount) }, gasPrice)
      if (candidate.net <= best.net * (1 + GAIN_MIN)) continue
      best = candidate
      hasImproved = true
    }
  }
  return best
}
