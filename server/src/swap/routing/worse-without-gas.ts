import { curveAt } from './market.ts'
import { byEarning } from './prune.ts'
import type { LayeredFlow } from './shift-layers.ts'
import { activeSwaps, type Subproblem } from './subproblem.ts'

/** Precision of the bounds, relative to the output. */
const ROUNDING = 1e-9

/**
 * Whether the route without gas is proven to net less. It pays at most `bound`, and at least as much as the layered flow. So by the dual it
 * lacks only swaps whose earnings are within the difference, and pays the gas of all others.
 */
export function isWorseWithoutGas(
  subproblem: Subproblem,
  bound: number,
  { layered, net }: Readonly<{ layered: LayeredFlow; net: number }>,
  { swapsMax, gasPrice }: Readonly<{ swapsMax: number; gasPrice: number }>,
): boolean {
  if (subproblem.tollFactor !== 1 || activeSwaps(layered.subproblem, layered.bound).length > swapsMax) return false
  let spare = bound - layered.bound + bound * ROUNDING
  const used = [...activeSwaps(subproblem, bound)].sort(byEarning).filter(({ earning }) => {
    spare -= earning
    return spare < 0
  })
  const gas = Math.min(...used.map(({ edge }) => curveAt(subproblem.market, edge).gas)) * used.length
  return used.length > 0 && bound - gasPrice * gas < net
}
