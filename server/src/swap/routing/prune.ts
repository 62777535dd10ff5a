import { type Trade, tradeTo } from './curve.ts'
import { solveDual } from './dual.ts'
import { curveAt } from './market.ts'
import type { LayeredFlow } from './shift-layers.ts'
import { type ActiveSwap, activeSwaps, keepPairs } from './subproblem.ts'

export type PruneOptions = Readonly<{ gasPrice: number; isOver: () => boolean }>

/** Each step of the beam search continues this many flows, each without one of its `REMOVALS_PER_ROUTE` least profitable swaps. */
const BEAM_WIDTH = 2
const REMOVALS_PER_ROUTE = 4
/** The beam search ends after this number of steps without a gain. */
const IDLE_STEPS_MAX = 5
const ROUNDS_MAX = 3
/** A swap that earns less than this share of its gas is removed without a search. */
const EARNING_TO_GAS_MIN = 0.2
/**
 * From so few swaps the beam search removes each. Half of them at a time, both of two paths may lose a swap, and `restoreSwaps` restores no
 * path of two.
 */
const FEW_SWAPS = 8
/** A gain below this share of the output is rounding error. */
const GAIN_MIN = 1e-9

export const byEarning = (a: ActiveSwap, b: ActiveSwap): number => a.earning - b.earning || a.edge - b.edge

/** Solves again without `edges`. */
export function banEdges({ subproblem, layers }: LayeredFlow, edges: readonly number[], amount: number): LayeredFlow {
  const fewer = { ...subproblem, value: subproblem.value.slice(), banned: new Set([...subproblem.banned, ...edges]) }
  return { subproblem: fewer, layers, bound: solveDual(fewer, amount) }
}

/** A swap and its gas cost, in units of the target. */
type PricedSwap = ActiveSwap & Readonly<{ gas: number }>
/**
 * A flow and its output net of gas. `loss` is the sum of gas − earning over the swaps that earn less than their gas. In units of the
 * target.
 */
type NetFlow = Readonly<{ flow: LayeredFlow; active: readonly PricedSwap[]; net: number; loss: number }>

/**
 * The flow with the highest output net of gas: a beam search removes swaps one at a time and continues past the first loss, because two
 * swaps may each be worth their gas but not together. Then each removed swap is tried again.
 */
export function prune(initial: LayeredFlow, amount: number, options: PruneOptions): LayeredFlow {
  let best = netOfGas(initial, options.gasPrice)
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const pruned = beamSearch(netOfGas(restrictTokens(best.flow), options.gasPrice), amount, options)
    if (pruned.net <= best.net * (1 + GAIN_MIN)) break
    // With fewer swaps, pairs outside of the restricted subproblem may pay now.
    const { banned, value } = pruned.flow.subproblem
    const subproblem = { ...initial.subproblem, banned, value: value.slice() }
    const extended = netOfGas({ ...initial, subproblem, bound: solveDual(subproblem, amount) }, options.gasPrice)
    best = pruned
    if (extended.net <= pruned.net * (1 + GAIN_MIN)) break
    best = extended
  }
  return best.flow
}

function beamSearch(initial: NetFlow, amount: number, { gasPrice, isOver }: PruneOptions): NetFlow {
  let best = removeUnprofitable(initial, amount, gasPrice)
  let beam: readonly NetFlow[] = [best]
  for (let idleSteps = 0; idleSteps < IDLE_STEPS_MAX && beam.length > 0 && !isOver(); idleSteps++) {
    const next = new Map<string, NetFlow>()
    for (const candidate of beam)
      for (const swap of [...candidate.active].sort(byEarning).slice(0, REMOVALS_PER_ROUTE)) {
        if (!(netBoundWithout(candidate, swap) > best.net * (1 + GAIN_MIN))) continue
        const fewer = netOfGas(banEdges(candidate.flow, [swap.edge], amount), gasPrice)
        next.set(fewer.active.map(({ edge }) => edge).join(), fewer)
      }
    beam = [...next.values()].sort((a, b) => b.net - a.net).slice(0, BEAM_WIDTH)
    const [first] = beam
    if (first === undefined || first.net <= best.net * (1 + GAIN_MIN)) continue
    best = first
    idleSteps = -1
  }
  return restoreSwaps(best, initial.active, amount, { gasPrice, isOver })
}

/**
 * Upper bound of the net output without this swap, whatever other swaps are removed, too. By the dual, removing swaps reduces the bound by
 * at least their earnings at current prices, so removing another swap helps only if it earns less than its gas.
 */
const netBoundWithout = ({ net, loss }: NetFlow, { earning, gas }: PricedSwap): number =>
  net + loss + Math.min(0, gas - earning)

/** Removes the swaps that earn far less than their gas, half of them at a time. */
function removeUnprofitable(initial: NetFlow, amount: number, gasPrice: number): NetFlow {
  let best = initial
  for (;;) {
    const least = best.active.filter(({ earning, gas }) => earning < EARNING_TO_GAS_MIN * gas).sort(byEarning)
    if (least.length < 2 || best.active.length <= FEW_SWAPS) return best
    const edges = least.slice(0, Math.ceil(least.length / 2)).map(({ edge }) => edge)
    const fewer = netOfGas(banEdges(best.flow, edges, amount), gasPrice)
    if (fewer.net <= best.net) return best
    best = fewer
  }
}

/** Restricts the subproblem to the pairs between tokens that the flow uses. */
export function restrictTokens({ subproblem, layers, bound }: LayeredFlow): LayeredFlow {
  const tokens = new Set(activeSwaps(subproblem, bound).flatMap(({ from, to }) => [from, to]))
  return { subproblem: keepPairs(subproblem, (from, to) => tokens.has(from) && tokens.has(to)), layers, bound }
}

function netOfGas(flow: LayeredFlow, gasPrice: number): NetFlow {
  const { subproblem, bound } = flow
  const active = activeSwaps(subproblem, bound).map((swap) => ({
    ...swap,
    gas: gasPrice * curveAt(subproblem.market, swap.edge).gas,
  }))
  const gasCost = active.reduce((sum, { gas }) => sum + gas, 0)
  const loss = active.reduce((sum, { gas, earning }) => sum + Math.max(0, gas - earning), 0)
  return { flow, active, net: bound - gasCost, loss }
}

const trade: Trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/** Restores removed swaps one by one while the net output increases. */
function restoreSwaps(
  initial: NetFlow,
  all: readonly PricedSwap[],
  amount: number,
  { gasPrice, isOver }: PruneOptions,
): NetFlow {
  let best = initial
  for (let hasImproved = true; hasImproved && !isOver(); ) {
    hasImproved = false
    for (const { edge, from, to, gas } of all) {
      const { subproblem } = best.flow
      if (!subproblem.banned.has(edge) || isOver()) continue
      const price = (subproblem.value[from] as number) / (subproblem.value[to] as number)
      trade.in = trade.out = trade.profit = trade.sensitivity = 0
      tradeTo(curveAt(subproblem.market, edge), price, Math.sqrt(price), trade)
      // At current prices the swap adds at most its profit, and can at most replace the swaps that earn less than their gas.
      const earning = trade.profit * (subproblem.value[from] as number)
      if (earning - gas + best.loss <= best.net * GAIN_MIN) continue
      const banned = new Set(subproblem.banned)
      banned.delete(edge)
      const widened = { ...subproblem, value: subproblem.value.slice(), banned }
      const candidate = netOfGas({ ...best.flow, subproblem: widened, bound: solveDual(widened, amount) }, gasPrice)
      if (candidate.net <= best.net * (1 + GAIN_MIN)) continue
      best = candidate
      hasImproved = true
    }
  }
  return best
}
