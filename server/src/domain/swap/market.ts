import type { Curve } from './curve.ts'

/** One direction through one pool. Tokens and pools are numbers within the market. */
export type Edge = Readonly<{ pool: number; from: number; to: number; curve: Curve }>

/**
 * The pools of one network as the search walks them. A pair is all edges from one token to another, best price first. Built
 * once for each change of the pools; a quote reads it and changes nothing.
 */
export type Market = Readonly<{
  tokenCount: number
  edges: readonly Edge[]
  /** Pairs of token t are `firstPair[t]` … `firstPair[t + 1] - 1`, in the order of their targets. */
  firstPair: Int32Array
  pairFrom: Int32Array
  pairTo: Int32Array
  /** Edges of pair p are `firstEdge[p]` … `firstEdge[p + 1] - 1`. */
  firstEdge: Int32Array
  /** Marginal price of the pair's first unit. */
  price: Float64Array
  /** About how much goes into the pair until its price has fallen to a quarter. */
  depth: Float64Array
  /** Tokens that have two neighbours or more: all others can only be a beginning or an end. */
  between: Uint8Array
}>

/** Edges whose price is worse than the pair's best by more than this share do not count for its depth. */
const DEEP = 0.03

export function createMarket(tokenCount: number, unsorted: readonly Edge[]): Market {
  const edges = unsorted.filter(({ curve }) => curve.price.length > 0).sort(compare)
  const firstPair = new Int32Array(tokenCount + 1)
  const pairFrom: number[] = []
  const pairTo: number[] = []
  const firstEdge: number[] = []
  const price: number[] = []
  const depth: number[] = []
  let last: Edge | null = null
  for (const [index, edge] of edges.entries()) {
    const start = edge.curve.price[0] as number
    if (last === null || last.from !== edge.from || last.to !== edge.to) {
      firstPair[edge.from + 1] = (firstPair[edge.from + 1] as number) + 1
      pairFrom.push(edge.from)
      pairTo.push(edge.to)
      firstEdge.push(index)
      price.push(start)
      depth.push(0)
    }
    last = edge
    const pair = depth.length - 1
    if (start >= (price[pair] as number) * (1 - DEEP)) depth[pair] = (depth[pair] as number) + depthOf(edge.curve)
  }
  firstEdge.push(edges.length)
  for (let token = 0; token < tokenCount; token++)
    firstPair[token + 1] = (firstPair[token + 1] as number) + (firstPair[token] as number)
  return {
    tokenCount,
    edges,
    firstPair,
    pairFrom: Int32Array.from(pairFrom),
    pairTo: Int32Array.from(pairTo),
    firstEdge: Int32Array.from(firstEdge),
    price: Float64Array.from(price),
    depth: Float64Array.from(depth),
    between: Uint8Array.from({ length: tokenCount }, (_, token) =>
      (firstPair[token + 1] as number) - (firstPair[token] as number) > 1 ? 1 : 0,
    ),
  }
}

/** Of equal prices the lower pool: the same pools give the same market, in whatever order they come. */
function compare(a: Edge, b: Edge): number {
  return (
    a.from - b.from || a.to - b.to || (b.curve.price[0] as number) - (a.curve.price[0] as number) || a.pool - b.pool
  )
}

/** A constant product falls to a quarter of its price when as much went in as lay there. */
function depthOf({ reserveIn, startIn, price }: Curve): number {
  return Math.min(reserveIn[0] as number, startIn[price.length] as number)
}
