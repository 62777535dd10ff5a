import { type Trade, tradeTo } from './curve.ts'
import { solveDual } from './dual.ts'
import { curveAt } from './market.ts'
import { type Active, activeSwaps, keepPairs } from './problem.ts'
import type { Leveled } from './shift-levels.ts'

export type PruneOptions = Readonly<{ gasPrice: number; isOver: () => boolean }>

/** At each step so many routes are gone on with, and of each so many of the least useful swaps are tried without. */
const ROUTES = 2
const TRIED = 4
/** So many steps without a gain end it. */
const PATIENCE = 5
const ROUNDS_MAX = 3
/** A swap that earns less than this share of its gas is seldom worth another look. */
const USELESS = 0.2
/** A swap that goes takes others of its way with it: one that earns more than the gas of so many stays. */
const WHOLE_WAY = 4
/** A gain below this share of the output is rounding. */
const NO_GAIN = 1e-9

export const byEarning = (a: Active, b: Active): number => a.earning - b.earning || a.edge - b.edge

export function without({ problem, levels }: Leveled, edges: readonly number[], amount: number): Leveled {
  const fewer = { ...problem, value: problem.value.slice(), banned: new Set([...problem.banned, ...edges]) }
  return { problem: fewer, levels, bound: solveDual(fewer, amount) }
}

/** A route's output net of its gas. */
type Weighed = Readonly<{ route: Leveled; active: readonly Active[]; net: number }>

/**
 * The route that pays most net of gas: swaps are taken away one by one, of the least useful ones those whose going costs least,
 * past the first loss, too, for two swaps may be worth their gas apart and not together. Then each that went is tried again.
 */
export function prune(begun: Leveled, amount: number, options: PruneOptions): Leveled {
  let best = weigh(begun, options.gasPrice)
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const few = thin(weigh(narrow(best.route), options.gasPrice), amount, options)
    if (few.net <= best.net * (1 + NO_GAIN)) break
    // What was out of sight may now pay.
    const { banned, value } = few.route.problem
    const problem = { ...begun.problem, banned, value: value.slice() }
    const wide = weigh({ ...begun, problem, bound: solveDual(problem, amount) }, options.gasPrice)
    best = few
    if (wide.net <= few.net * (1 + NO_GAIN)) break
    best = wide
  }
  return best.route
}

function thin(begun: Weighed, amount: number, { gasPrice, isOver }: PruneOptions): Weighed {
  const gasOf = ({ edge }: Active) => gasPrice * curveAt(begun.route.problem.market, edge).gas
  let best = coarse(begun, amount, gasPrice, gasOf)
  let routes: readonly Weighed[] = [best]
  for (let idle = 0; idle < PATIENCE && routes.length > 0 && !isOver(); idle++) {
    const next = new Map<string, Weighed>()
    for (const { route, active } of routes) {
      const least = active.filter((one) => one.earning <= WHOLE_WAY * gasOf(one)).sort(byEarning)
      for (const { edge } of least.slice(0, TRIED)) {
        const fewer = weigh(without(route, [edge], amount), gasPrice)
        next.set(fewer.active.map((one) => one.edge).join(), fewer)
      }
    }
    routes = [...next.values()].filter(({ route }) => route.bound > best.net).sort((a, b) => b.net - a.net)
    routes = routes.slice(0, ROUTES)
    const [first] = routes
    if (first === undefined || first.net <= best.net * (1 + NO_GAIN)) continue
    best = first
    idle = -1
  }
  return regrow(best, begun.active, amount, { gasPrice, isOver })
}

/** Half of the swaps that earn far less than their gas go at a time. */
function coarse(begun: Weighed, amount: number, gasPrice: number, gasOf: (one: Active) => number): Weighed {
  let best = begun
  for (;;) {
    const least = best.active.filter((one) => one.earning < USELESS * gasOf(one)).sort(byEarning)
    if (least.length < 2) return best
    const edges = least.slice(0, Math.ceil(least.length / 2)).map(({ edge }) => edge)
    const fewer = weigh(without(best.route, edges, amount), gasPrice)
    if (fewer.net <= best.net) return best
    best = fewer
  }
}

/** The pairs of the tokens that it goes through are looked at, no others. */
function narrow({ problem, levels, bound }: Leveled): Leveled {
  const tokens = new Set(activeSwaps(problem, bound).flatMap(({ from, to }) => [from, to]))
  return { problem: keepPairs(problem, (from, to) => tokens.has(from) && tokens.has(to)), levels, bound }
}

function weigh(route: Leveled, gasPrice: number): Weighed {
  const { problem, bound } = route
  const active = activeSwaps(problem, bound)
  const gas = active.reduce((sum, { edge }) => sum + curveAt(problem.market, edge).gas, 0)
  return { route, active, net: bound - gasPrice * gas }
}

const trade: Trade = { in: 0, out: 0, earned: 0, give: 0 }

/** Takes back what was taken away, swap by swap, as long as it pays. */
function regrow(begun: Weighed, all: readonly Active[], amount: number, { gasPrice, isOver }: PruneOptions): Weighed {
  let best = begun
  for (let again = true; again && !isOver(); ) {
    again = false
    for (const { edge, from, to } of all) {
      const { problem } = best.route
      // At these values it adds no more than it earns.
      if (!problem.banned.has(edge) || isOver()) continue
      const price = (problem.value[from] as number) / (problem.value[to] as number)
      trade.in = trade.out = trade.earned = trade.give = 0
      tradeTo(curveAt(problem.market, edge), price, Math.sqrt(price), trade)
      const gas = gasPrice * curveAt(problem.market, edge).gas
      if (trade.earned * (problem.value[from] as number) <= USELESS * gas) continue
      const banned = new Set(problem.banned)
      banned.delete(edge)
      const wider = { ...problem, value: problem.value.slice(), banned }
      const more = weigh({ ...best.route, problem: wider, bound: solveDual(wider, amount) }, gasPrice)
      if (more.net <= best.net * (1 + NO_GAIN)) continue
      best = more
      again = true
    }
  }
  return best
}
