import { COLUMN_GAS } from './column-generation.ts'
import { curveAt } from './market.ts'
import { byEarning } from './prune.ts'
import type { LayeredFlow } from './shift-layers.ts'
import { activeSwaps, type Subproblem } from './subproblem.ts'

/** Precision of the bounds, relative to the output. */
const ROUNDING = 1e-9

/** Most columns in a route of 24 swaps: each has at least two. */
const COLUMNS_MAX = 12

/**
 * Whether the route without gas nets less by the dual, if it pays at least as much as the layered flow. It pays at most `bound`, so it lacks
 * only swaps whose earnings are within the difference, and pays the gas of all others. Columns that were left out because of gas may take
 * the place of swaps that earn no more than they gain. Each has a swap that no other column has, and one of them a second one.
 */
export function isWorseWithoutGas(
  subproblem: Subproblem,
  bound: number,
  { layered, net }: Readonly<{ layered: LayeredFlow; net: number }>,
  { swapsMax, gasPrice }: Readonly<{ swapsMax: number; gasPrice: number }>,
): boolean {
  if (subproblem.tollFactor !== 1 || activeSwaps(layered.subproblem, layered.bound).length > swapsMax) return false
  const active = [...activeSwaps(subproblem, bound)].sort(byEarning)
  const gas = Math.min(...active.map(({ edge }) => curveAt(subproblem.market, edge).gas))
  for (let columns = 0; columns <= COLUMNS_MAX; columns++) {
    const gain = columns * COLUMN_GAS * gasPrice
    let spare = bound - layered.bound + bound * ROUNDING + gain
    const used = active.filter(({ earning }) => {
      spare -= earning
      return spare < 0
    })
    const swaps = used.length + (columns === 0 ? 0 : columns + 1)
    if (!(bound + gain - gasPrice * gas * swaps < net)) return false
  }
  return true
}
