import { outputOf } from './curve.ts'
import { curveAt, type Market } from './market.ts'
import type { Subproblem } from './subproblem.ts'

/** One path: edges of the market in order, and what comes out at its end. */
export type Path = Readonly<{ edges: readonly number[]; output: number }>

/**
 * The best single path of each length from 1 to `hopsMax` within the problem, the whole amount through it. Dynamic programming
 * over (hops, token): more of a token never pays less further on, so the best amount of each token after h hops is all that
 * hop h + 1 needs.
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
      // No pool pays more than its first price, and the edges of a pair stand best price first.
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

/** One way to a token: what comes of the whole amount there, and the gas until there. */
type Label = Readonly<{ amount: number; gas: number; edge: number; previous: Label | null }>

/** So many ways to a token are kept of one length: more than pools differ in gas. */
const LABELS_MAX = 12

/**
 * The single path that pays most net of gas, within the problem. As above, but of each token after h hops every amount is needed
 * that no greater one for as little gas makes needless.
 */
export function bestNetPath(subproblem: Subproblem, amount: number, hopsMax: number, gasPrice: number): Path | null {
  const { tokens, pairs, from, to } = subproblem
  const hopsToTarget = countHops(subproblem, hopsMax)
  let spotPrice: Label | null = null
  let last: Label[][] = tokens.map((_, token) => (token === 0 ? [{ amount, gas: 0, edge: -1, previous: null }] : []))
  for (let hop = 1; hop <= hopsMax; hop++) {
    const now: Label[][] = tokens.map(() => [])
    for (let index = 0; index < pairs.length; index++)
      if ((hopsToTarget[to[index] as number] as number) <= hopsMax - hop)
        for (const label of last[from[index] as number] as Label[]) extendLabel(subproblem, index, label, now)
    for (const label of now[1] as Label[])
      if (spotPrice === null || label.amount - gasPrice * label.gas > spotPrice.amount - gasPrice * spotPrice.gas) spotPrice = label
    last = now
  }
  if (spotPrice === null) return null
  const edges: number[] = []
  for (let label: Label = spotPrice; label.previous !== null; label = label.previous) edges.unshift(label.edge)
  return { edges, output: spotPrice.amount }
}

/** Hops from every token to the target, of which none is further than `hopsMax`. */
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
    // No pool pays more than its first price, and the edges of a pair stand best price first.
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
