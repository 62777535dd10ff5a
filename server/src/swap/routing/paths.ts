import { outputOf } from './curve.ts'
import { curveAt, type Market } from './market.ts'
import type { Problem } from './subproblem.ts'

/** One path: edges of the market in order, and what comes out at its end. */
export type Path = Readonly<{ edges: readonly number[]; output: number }>

/**
 * The best single path of each length from 1 to `hopsMax` within the problem, the whole amount through it. Dynamic programming
 * over (hops, token): more of a token never pays less further on, so the best amount of each token after h hops is all that
 * hop h + 1 needs.
 */
export function bestPaths(
  { market, tokens, place, pairs, from, to, best }: Problem,
  amount: number,
  hopsMax: number,
): readonly Path[] {
  const { first, firstEdge } = market
  const arrivals: Int32Array[] = []
  let last = new Float64Array(tokens.length)
  last[0] = amount
  const paths: Path[] = []
  for (let hop = 1; hop <= hopsMax; hop++) {
    const now = new Float64Array(tokens.length)
    const arrival = new Int32Array(tokens.length).fill(-1)
    for (let index = 0; index < pairs.length; index++) {
      const through = last[from[index] as number] as number
      const next = to[index] as number
      // No pool pays more than its first price, and the edges of a pair stand best price first.
      if (through * (best[index] as number) <= (now[next] as number)) continue
      const pair = pairs[index] as number
      const end = firstEdge[pair + 1] as number
      for (let edge = firstEdge[pair] as number; edge < end; edge++) {
        if (through * (first[edge] as number) <= (now[next] as number)) break
        const output = outputOf(curveAt(market, edge), through)
        if (!(output > (now[next] as number))) continue
        now[next] = output
        arrival[next] = edge
      }
    }
    arrivals.push(arrival)
    const output = now[1] as number
    if (output > 0) paths.push({ edges: trace(market, place, arrivals), output })
    last = now
  }
  return paths
}

function trace(market: Market, place: Int32Array, arrivals: readonly Int32Array[]): number[] {
  const path: number[] = []
  let token = 1
  for (let hop = arrivals.length - 1; hop >= 0; hop--) {
    const edge = (arrivals[hop] as Int32Array)[token] as number
    path.unshift(edge)
    token = (place[market.pairFrom[market.pairOf[edge] as number] as number] as number) - 1
  }
  return path
}

/** One way to a token: what comes of the whole amount there, and the gas until there. */
type Way = Readonly<{ amount: number; gas: number; edge: number; before: Way | null }>

/** So many ways to a token are kept of one length: more than pools differ in gas. */
const WAYS_MAX = 12

/**
 * The single path that pays most net of gas, within the problem. As above, but of each token after h hops every amount is needed
 * that no greater one for as little gas makes needless.
 */
export function bestNetPath(problem: Problem, amount: number, hopsMax: number, gasPrice: number): Path | null {
  const { tokens, pairs, from, to } = problem
  const far = hopsTo(problem, hopsMax)
  let best: Way | null = null
  let last: Way[][] = tokens.map((_, token) => (token === 0 ? [{ amount, gas: 0, edge: -1, before: null }] : []))
  for (let hop = 1; hop <= hopsMax; hop++) {
    const now: Way[][] = tokens.map(() => [])
    for (let index = 0; index < pairs.length; index++)
      if ((far[to[index] as number] as number) <= hopsMax - hop)
        for (const way of last[from[index] as number] as Way[]) goOn(problem, index, way, now)
    for (const way of now[1] as Way[])
      if (best === null || way.amount - gasPrice * way.gas > best.amount - gasPrice * best.gas) best = way
    last = now
  }
  if (best === null) return null
  const edges: number[] = []
  for (let way: Way = best; way.before !== null; way = way.before) edges.unshift(way.edge)
  return { edges, output: best.amount }
}

/** Hops from every token to the target, of which none is further than `hopsMax`. */
function hopsTo({ tokens, pairs, from, to }: Problem, hopsMax: number): Uint8Array {
  const far = new Uint8Array(tokens.length).fill(hopsMax)
  far[1] = 0
  for (let hop = 1; hop < hopsMax; hop++)
    for (let index = 0; index < pairs.length; index++)
      if (far[to[index] as number] === hop - 1 && (far[from[index] as number] as number) > hop)
        far[from[index] as number] = hop
  return far
}

function goOn({ market, pairs, to, best }: Problem, index: number, way: Way, now: readonly Way[][]): void {
  const ways = now[to[index] as number] as Way[]
  if (isNeedless(ways, way.amount * (best[index] as number), way.gas)) return
  const pair = pairs[index] as number
  const end = market.firstEdge[pair + 1] as number
  for (let edge = market.firstEdge[pair] as number; edge < end; edge++) {
    // No pool pays more than its first price, and the edges of a pair stand best price first.
    if (isNeedless(ways, way.amount * (market.first[edge] as number), way.gas)) return
    const curve = curveAt(market, edge)
    const gas = way.gas + curve.gas
    const amount = outputOf(curve, way.amount)
    if (!(amount > 0) || isNeedless(ways, amount, gas)) continue
    const kept = ways.filter((one) => one.amount > amount || one.gas < gas)
    ways.splice(0, ways.length, ...kept, { amount, gas, edge, before: way })
    if (ways.length > WAYS_MAX) ways.splice(leastOf(ways), 1)
  }
}

const isNeedless = (ways: readonly Way[], amount: number, gas: number): boolean =>
  ways.some((one) => one.amount >= amount && one.gas <= gas)

const leastOf = (ways: readonly Way[]): number =>
  ways.reduce((least, one, index) => (one.amount < (ways[least] as Way).amount ? index : least), 0)
