import { outputOf } from './curve.ts'
import { curveAt, type Market } from './market.ts'
import type { Subproblem } from './subproblem.ts'

/** A path of edges in order, and its output in base units of the target, before gas. */
export type Path = Readonly<{ edges: readonly number[]; output: number }>

/**
 * The best single path of each length from 1 to `hopsMax` within the subproblem, for the whole amount. Dynamic programming over
 * (hops, token): output increases with input, so the largest amount of each token after h hops is all that hop h + 1 needs.
 */
export function bestPaths(
  { market, tokens, localIndex, pairs, from, to, spotPrice }: Subproblem,
  amount: number,
  hopsMax: number,
): readonly Path[] {
  const { edgePrice, firstEdge } = market
  const viaEdges: Int32Array[] = []
  let last = new Float64Array(tokens.length)
  last[0] = amount
  const paths: Path[] = []
  for (let hop = 1; hop <= hopsMax; hop++) {
    const now = new Float64Array(tokens.length)
    const viaEdge = new Int32Array(tokens.length).fill(-1)
    for (let index = 0; index < pairs.length; index++) {
      const amountIn = last[from[index] as number] as number
      const next = to[index] as number
      // The spot price bounds the output, and the edges of a pair are sorted by spot price.
      if (amountIn * (spotPrice[index] as number) <= (now[next] as number)) continue
      const pair = pairs[index] as number
      const end = firstEdge[pair + 1] as number
      for (let edge = firstEdge[pair] as number; edge < end; edge++) {
        if (amountIn * (edgePrice[edge] as number) <= (now[next] as number)) break
        const output = outputOf(curveAt(market, edge), amountIn)
        if (!(output > (now[next] as number))) continue
        now[next] = output
        viaEdge[next] = edge
      }
    }
    viaEdges.push(viaEdge)
    const output = now[1] as number
    if (output > 0) paths.push({ edges: trace(market, localIndex, viaEdges), output })
    last = now
  }
  return paths
}

function trace(market: Market, localIndex: Int32Array, viaEdges: readonly Int32Array[]): number[] {
  const path: number[] = []
  let token = 1
  for (let hop = viaEdges.length - 1; hop >= 0; hop--) {
    const edge = (viaEdges[hop] as Int32Array)[token] as number
    path.unshift(edge)
    token = (localIndex[market.pairFrom[market.pairOf[edge] as number] as number] as number) - 1
  }
  return path
}

/** Label of a multi-criteria search: output and gas of one path from the source to a token. */
type Label = Readonly<{ amount: number; gas: number; edge: number; previous: Label | null }>

/** Labels stored per token and length; pools have fewer different gas costs. */
const LABELS_MAX = 12

/**
 * The single path with the highest output net of gas within the subproblem. Like `bestPaths`, but stores for each token and number of hops
 * every label that no other with at least its amount and at most its gas dominates.
 */
export function bestNetPath(subproblem: Subproblem, amount: number, hopsMax: number, gasPrice: number): Path | null {
  const { tokens, pairs, from, to } = subproblem
  const hopsToTarget = countHops(subproblem, hopsMax)
  let best: Label | null = null
  let last: Label[][] = tokens.map((_, token) => (token === 0 ? [{ amount, gas: 0, edge: -1, previous: null }] : []))
  for (let hop = 1; hop <= hopsMax; hop++) {
    const now: Label[][] = tokens.map(() => [])
    for (let index = 0; index < pairs.length; index++)
      if ((hopsToTarget[to[index] as number] as number) <= hopsMax - hop)
        for (const label of last[from[index] as number] as Label[]) extendLabel(subproblem, index, label, now)
    for (const label of now[1] as Label[])
      if (best === null || label.amount - gasPrice * label.gas > best.amount - gasPrice * best.gas) best = label
    last = now
  }
  if (best === null) return null
  const edges: number[] = []
  for (let label: Label = best; label.previous !== null; label = label.previous) edges.unshift(label.edge)
  return { edges, output: best.amount }
}

/** Hops from every token to the target, at most `hopsMax`. */
function countHops({ tokens, pairs, from, to }: Subproblem, hopsMax: number): Uint8Array {
  const hopsToTarget = new Uint8Array(tokens.length).fill(hopsMax)
  hopsToTarget[1] = 0
  for (let hop = 1; hop < hopsMax; hop++)
    for (let index = 0; index < pairs.length; index++)
      if (hopsToTarget[to[index] as number] === hop - 1 && (hopsToTarget[from[index] as number] as number) > hop)
        hopsToTarget[from[index] as number] = hop
  return hopsToTarget
}

function extendLabel({ market, pairs, to, spotPrice }: Subproblem, index: number, label: Label, now: readonly Label[][]): void {
  const labels = now[to[index] as number] as Label[]
  if (isDominated(labels, label.amount * (spotPrice[index] as number), label.gas)) return
  const pair = pairs[index] as number
  const end = market.firstEdge[pair + 1] as number
  for (let edge = market.firstEdge[pair] as number; edge < end; edge++) {
    // The spot price bounds the output, and the edges of a pair are sorted by spot price.
    if (isDominated(labels, label.amount * (market.edgePrice[edge] as number), label.gas)) return
    const curve = curveAt(market, edge)
    const gas = label.gas + curve.gas
    const amount = outputOf(curve, label.amount)
    if (!(amount > 0) || isDominated(labels, amount, gas)) continue
    const nondominated = labels.filter((one) => one.amount > amount || one.gas < gas)
    labels.splice(0, labels.length, ...nondominated, { amount, gas, edge, previous: label })
    if (labels.length > LABELS_MAX) labels.splice(indexOfLeast(labels), 1)
  }
}

const isDominated = (labels: readonly Label[], amount: number, gas: number): boolean =>
  labels.some((one) => one.amount >= amount && one.gas <= gas)

const indexOfLeast = (labels: readonly Label[]): number =>
  labels.reduce((least, one, index) => (one.amount < (labels[least] as Label).amount ? index : least), 0)
