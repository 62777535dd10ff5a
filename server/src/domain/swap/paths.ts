import { outputOf } from './curve.ts'
import { curveAt, type Market } from './market.ts'
import type { Problem } from './problem.ts'

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
