import type { Pricing } from './column.ts'
import { COLUMN_GAIN_MIN, findColumns } from './column-generation.ts'
import { type HopCounts, hopCountsOf } from './likely-paths.ts'
import { GAIN_MIN, GAS_NEGLIGIBLE, type LayeredFlow, shiftLayers, solveLayered } from './shift-layers.ts'
import { activeSwaps, createSubproblem, type Subproblem } from './subproblem.ts'

export type LayeredOptions = Readonly<{ hopsMax: number; gasPrice: number; isOver: () => boolean }>

/** A layered flow, and the subproblem without layers that it restricts. */
export type ExtendedFlow = Readonly<{ unlayered: Subproblem; flow: LayeredFlow }>

const ROUNDS_MAX = 4

/**
 * Adds tokens that pay with the limit of hops, but not without it: prices columns at the prices of the layered flow, and only detours that
 * fit between its layers.
 */
export function addLayeredColumns(
  unlayered: Subproblem,
  initial: LayeredFlow,
  amount: number,
  unlimitedBound: number,
  options: LayeredOptions,
): ExtendedFlow {
  const { market, tokens, localIndex } = unlayered
  let [extended, flow] = [unlayered, initial]
  const least = Math.max(initial.bound * GAIN_MIN, options.gasPrice * GAS_NEGLIGIBLE)
  if (unlimitedBound - flow.bound <= least) return { unlayered, flow }
  const hopCounts = hopCountsOf(market, tokens[0] as number, tokens[1] as number, options.hopsMax)
  for (let round = 0; round < ROUNDS_MAX && unlimitedBound - flow.bound > least && !options.isOver(); round++) {
    const pricing = pricingOf(extended, flow, hopCounts, options.hopsMax)
    const values = new Map(extended.tokens.map((token, index) => [token, flow.subproblem.value[index] as number]))
    const layers = [...flow.layers]
    for (const column of findColumns(market, pricing, Math.max(COLUMN_GAIN_MIN * flow.bound, least)))
      for (const [index, token] of column.tokens.entries()) {
        if (values.has(token)) continue
        values.set(token, column.values[index] as number)
        layers.push((flow.layers[(localIndex[column.from] as number) - 1] as number) + index + 1)
      }
    if (layers.length === flow.layers.length) break
    extended = createSubproblem(market, [...values.keys()], [...values.values()], localIndex)
    flow = solveLayered(extended, Uint8Array.from(layers), amount, extended.value)
    flow = shiftLayers(extended, flow, amount, unlimitedBound, options)
  }
  return { unlayered: extended, flow }
}

/** Tokens without flow count as not included, because their prices carry no information. */
function pricingOf({ tokens }: Subproblem, flow: LayeredFlow, hopCounts: HopCounts, hopsMax: number): Pricing {
  const { subproblem, layers, bound } = flow
  const used = [...new Set([0, 1, ...activeSwaps(subproblem, bound).map(({ to }) => to)])]
  const valueAt = new Float64Array(hopCounts.toTarget.length)
  const [fromSource, toTarget] = [hopCounts.fromSource.slice(), hopCounts.toTarget.slice()]
  for (const index of used) {
    const token = tokens[index] as number
    valueAt[token] = subproblem.value[index] as number
    fromSource[token] = layers[index] as number
    toTarget[token] = hopsMax - (layers[index] as number)
  }
  const included = used.map((index) => tokens[index] as number)
  return { included, valueAt, tollFactor: 1, hopCounts: { fromSource, toTarget }, hopsMax }
}
