import { banEdges, byEarning, restrictTokens } from './prune.ts'
import type { LayeredFlow } from './shift-layers.ts'
import { activeSwaps } from './subproblem.ts'

export type SwapLimit = Readonly<{ swapsMax: number; isOver: () => boolean }>

/** Up to this limit, as on Solana, the choice of swaps matters more than the time: each of two hops is half of a path. */
const FEW_SWAPS = 4
/** Times the limit: swaps from which they are removed one at a time. */
const SINGLY = 3
/** Flows that each step of the removal continues. */
const BEAM_WIDTH = 2
/** A gain below this share of the output is rounding error. */
const GAIN_MIN = 1e-9

/** The flow with at most `swapsMax` swaps. */
export function limitSwaps(initial: LayeredFlow, amount: number, { swapsMax, isOver }: SwapLimit): LayeredFlow {
  if (countOf(initial) <= swapsMax) return initial
  const reduced = removeLeast(initial, amount, swapsMax)
  if (swapsMax > FEW_SWAPS || isOver()) return reduced
  const limit = { swapsMax, isOver }
  const chosen = exchangeSwaps(
    removeSingly(restrictTokens(removeLeast(initial, amount, SINGLY * swapsMax)), amount, limit),
    amount,
    limit,
  )
  return chosen === null || chosen.bound < reduced.bound ? reduced : chosen
}

const countOf = ({ subproblem, bound }: LayeredFlow): number => activeSwaps(subproblem, bound).length

/**
 * Removes the least profitable swaps until at most `count` remain, half of the excess at a time. The other swaps of their paths end with
 * them, so a step that leaves fewer than `count` is repeated at half of its size.
 */
function removeLeast(initial: LayeredFlow, amount: number, count: number): LayeredFlow {
  let best = initial
  let step = Number.POSITIVE_INFINITY
  for (;;) {
    const active = activeSwaps(best.subproblem, best.bound)
    if (active.length <= count) return best
    step = Math.min(step, Math.ceil((active.length - count) / 2))
    const least = [...active].sort(byEarning).slice(0, step)
    const reduced = banEdges(
      best,
      least.map(({ edge }) => edge),
      amount,
    )
    if (step > 1 && countOf(reduced) < count) step = Math.ceil(step / 2)
    else best = reduced
  }
}

/** Removes one swap at a time, each that the flow has, and continues with the best flows. Null if the time ends before. */
function removeSingly(initial: LayeredFlow, amount: number, { swapsMax, isOver }: SwapLimit): LayeredFlow | null {
  let beam: readonly LayeredFlow[] = [initial]
  let best: LayeredFlow | null = null
  while (beam.length > 0) {
    const fewer = new Map<string, LayeredFlow>()
    for (const flow of beam)
      for (const { edge } of activeSwaps(flow.subproblem, flow.bound)) {
        if (isOver()) return best
        const next = banEdges(flow, [edge], amount)
        const active = activeSwaps(next.subproblem, next.bound)
        if (active.length <= swapsMax) {
          if (best === null || next.bound > best.bound) best = next
        } else if (best === null || next.bound > best.bound) fewer.set(active.map((swap) => swap.edge).join(), next)
      }
    beam = [...fewer.values()].sort((a, b) => b.bound - a.bound).slice(0, BEAM_WIDTH)
  }
  return best
}

/** Restores removed swaps, each in place of others, while that gains. */
function exchangeSwaps(initial: LayeredFlow | null, amount: number, limit: SwapLimit): LayeredFlow | null {
  let best = initial
  for (let hasGained = best !== null; hasGained && best !== null; ) {
    hasGained = false
    for (const edge of best.subproblem.banned) {
      const banned = new Set(best.subproblem.banned)
      banned.delete(edge)
      const subproblem = { ...best.subproblem, value: best.subproblem.value.slice(), banned }
      const widened = banEdges({ ...best, subproblem }, [], amount)
      const restored: LayeredFlow | null =
        countOf(widened) <= limit.swapsMax ? widened : removeSingly(widened, amount, limit)
      if (limit.isOver()) return best
      if (restored === null || restored.bound <= best.bound * (1 + GAIN_MIN)) continue
      best = restored
      hasGained = true
      break
    }
  }
  return best
}
