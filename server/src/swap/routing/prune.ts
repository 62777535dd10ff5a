import { type Trade, tradeTo } from './curve.ts'
import { solveDual } from './dual.ts'
import { curveAt } from './market.ts'
import type { Leveled } from './shift-layers.ts'
import { type Active, activeSwaps, keepPairs } from './subproblem.ts'

export type PruneOptions = Readonly<{ gasPrice: number; isOver: () => boolean }>

/** At each step so many routes are gone on with, and of each so many of the least useful swaps are tried without. */
const ROUTES = 2
const TRIED = 4
/** So many steps without a gain end it. */
const PATIENCE = 5
const ROUNDS_MAX = 3
/** A swap that earns less than this share of its gas is seldom worth another look. */
const USELESS = 0.2
/** A gain below this share of the output is rounding. */
const NO_GAIN = 1e-9

export const byEarning = (a: Active, b: Active): number => a.earning - b.earning || a.edge - b.edge

export function without({ problem, levels }: Leveled, edges: readonly number[], amount: number): Leveled {
  const fewer = { ...problem, value: problem.value.slice(), banned: new Set([...problem.banned, ...edges]) }
  return { problem: fewer, levels, bound: solveDual(fewer, amount) }
}

/** A swap with what its gas costs. */
type Priced = Active & Readonly<{ gas: number }>
/** A route's output net of its gas. `loss`: what its swaps that earn less than their gas lose by that. */
type Weighed = Readonly<{ route: Leveled; active: readonly Priced[]; net: number; loss: number }>

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
  let best = coarse(begun, amount, gasPrice)
  let routes: readonly Weighed[] = [best]
  for (let idle = 0; idle < PATIENCE && routes.length > 0 && !isOver(); idle++) {
    const next = new Map<string, Weighed>()
    for (const now of routes)
      for (const one of [...now.active].sort(byEarning).slice(0, TRIED)) {
        if (!(mostWithout(now, one) > best.net * (1 + NO_GAIN))) continue
        const fewer = weigh(without(now.route, [one.edge], amount), gasPrice)
        next.set(fewer.active.map(({ edge }) => edge).join(), fewer)
      }
    routes = [...next.values()].sort((a, b) => b.net - a.net).slice(0, ROUTES)
    const [first] = routes
    if (first === undefined || first.net <= best.net * (1 + NO_GAIN)) continue
    best = first
    idle = -1
  }
  return regrow(best, begun.active, amount, { gasPrice, isOver })
}

/**
 * What a route without this swap nets at most, whichever others go with it. At the present values a route without some swaps
 * pays at most what is left without their earnings: what goes with this one helps only where it earns less than its gas.
 */
const mostWithout = ({ net, loss }: Weighed, { earning, gas }: Priced): number =>
  net + loss + Math.min(0, gas - earning)

/** Half of the swaps that earn far less than their gas go at a time. */
function coarse(begun: Weighed, amount: number, gasPrice: number): Weighed {
  let best = begun
  for (;;) {
    const least = best.active.filter(({ earning, gas }) => earning < USELESS * gas).sort(byEarning)
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
  const active = activeSwaps(problem, bound).map((one) => ({
    ...one,
    gas: gasPrice * curveAt(problem.market, one.edge).gas,
  }))
  const paid = active.reduce((sum, { gas }) => sum + gas, 0)
  const loss = active.reduce((sum, { gas, earning }) => sum + Math.max(0, gas - earning), 0)
  return { route, active, net: bound - paid, loss }
}

const trade: Trade = { in: 0, out: 0, earned: 0, give: 0 }

/** Takes back what was taken away, swap by swap, as long as it pays. */
function regrow(begun: Weighed, all: readonly Priced[], amount: number, { gasPrice, isOver }: PruneOptions): Weighed {
  let best = begun
  for (let again = true; again && !isOver(); ) {
    again = false
    for (const { edge, from, to, gas } of all) {
      const { problem } = best.route
      if (!problem.banned.has(edge) || isOver()) continue
      const price = (problem.value[from] as number) / (problem.value[to] as number)
      trade.in = trade.out = trade.earned = trade.give = 0
      tradeTo(curveAt(problem.market, edge), price, Math.sqrt(price), trade)
      // At these values it adds no more than it earns, and takes the place of no more than what loses by its gas.
      const earning = trade.earned * (problem.value[from] as number)
      if (earning - gas + best.loss <= best.net * NO_GAIN) continue
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
