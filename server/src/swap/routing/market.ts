import type { Curve } from './curve.ts'

/** Edges as columns, in increasing order of pools. Tokens and pools are indexes in the market. */
export type EdgeList = Readonly<{
  /** Curves of each pool; `direction` is the index of an edge's curve among those of its pool. */
  curves: readonly (readonly Curve[])[]
  pool: Int32Array
  direction: Uint16Array
  from: Int32Array
  to: Int32Array
  /** Spot price (marginal price of the first unit, after the fee) and depth (`depthOf`). */
  price: Float64Array
  depth: Float64Array
}>

/**
 * The pools of one network as typed arrays. An edge is one direction of one pool; a pair is all edges from one token to another, best spot
 * price first. Built once per block that changed a pool; quotes only read it.
 */
export type Market = Readonly<{
  tokenCount: number
  /** By pool. Read with `curveAt`. */
  curves: readonly (readonly Curve[])[]
  /** By edge. */
  pool: Int32Array
  direction: Uint16Array
  pairOf: Int32Array
  /** Spot price of each edge, copied from its curve, so that most edges are skipped without reading the curve. */
  edgePrice: Float64Array
  /** The pairs from token t are `firstPair[t]` … `firstPair[t + 1] - 1`, sorted by their second token. */
  firstPair: Int32Array
  pairFrom: Int32Array
  pairTo: Int32Array
  /** The edges of pair p are `firstEdge[p]` … `firstEdge[p + 1] - 1`. */
  firstEdge: Int32Array
  /** Spot price of each pair: that of its best edge. */
  price: Float64Array
  /** Approximate input that reduces the pair's price to a quarter, in base units. */
  depth: Float64Array
  /** 1 for tokens with at least two neighbours. Others can only be source or target. */
  isIntermediate: Uint8Array
}>

/** Edges whose spot price is below the pair's best by more than this share do not count toward its depth. */
const DEPTH_PRICE_MARGIN = 0.03

/** Builds the market by counting sort, because it is rebuilt with every block. At equal prices the lower pool comes first. */
export function createMarket(tokenCount: number, edges: EdgeList): Market {
  const count = edges.pool.length
  const unsorted = new Int32Array(count)
  for (let edge = 0; edge < count; edge++) unsorted[edge] = edge
  const order = countingSort(edges.from, countingSort(edges.to, unsorted, tokenCount), tokenCount)
  const edgePrice = new Float64Array(count)
  for (let position = 0; position < count; position++) edgePrice[position] = edges.price[order[position] as number] as number
  const firstPair = new Int32Array(tokenCount + 1)
  const pairFrom = new Int32Array(count)
  const pairTo = new Int32Array(count)
  const firstEdge = new Int32Array(count + 1)
  const pairOf = new Int32Array(count)
  let pairs = 0
  for (let begin = 0; begin < count; pairs++) {
    const from = edges.from[order[begin] as number] as number
    const to = edges.to[order[begin] as number] as number
    let end = begin + 1
    while (end < count && edges.to[order[end] as number] === to && edges.from[order[end] as number] === from) end++
    if (end - begin > 1) sortByPrice(order, edgePrice, begin, end)
    for (let position = begin; position < end; position++) pairOf[position] = pairs
    firstPair[from + 1] = (firstPair[from + 1] as number) + 1
    pairFrom[pairs] = from
    pairTo[pairs] = to
    firstEdge[pairs] = begin
    begin = end
  }
  firstEdge[pairs] = count
  const isIntermediate = new Uint8Array(tokenCount)
  for (let token = 0; token < tokenCount; token++) {
    if ((firstPair[token + 1] as number) > 1) isIntermediate[token] = 1
    firstPair[token + 1] = (firstPair[token + 1] as number) + (firstPair[token] as number)
  }
  return {
    ...{ tokenCount, edgePrice, ...permuteEdges(edges, order) },
    ...{ pairOf, firstPair, pairFrom: pairFrom.subarray(0, pairs), pairTo: pairTo.subarray(0, pairs) },
    firstEdge: firstEdge.subarray(0, pairs + 1),
    ...summarizePairs(edgePrice, edges.depth, order, firstEdge, pairs),
    isIntermediate,
  }
}

/** The curve of an edge. Curves stay with their pools: a market is built from all pools, a quote reads a few curves. */
export const curveAt = ({ curves, pool, direction }: Pick<Market, 'curves' | 'pool' | 'direction'>, edge: number): Curve =>
  (curves[pool[edge] as number] as readonly Curve[])[direction[edge] as number] as Curve

function permuteEdges({ curves, ...edges }: EdgeList, order: Int32Array) {
  const pool = new Int32Array(order.length)
  const direction = new Uint16Array(order.length)
  for (let position = 0; position < order.length; position++) {
    const edge = order[position] as number
    pool[position] = edges.pool[edge] as number
    direction[position] = edges.direction[edge] as number
  }
  return { curves, pool, direction }
}

/** Best spot price of each pair, and the total depth of the edges near that price. */
function summarizePairs(edgePrice: Float64Array, depths: Float64Array, order: Int32Array, firstEdge: Int32Array, pairs: number) {
  const price = new Float64Array(pairs)
  const depth = new Float64Array(pairs)
  for (let pair = 0; pair < pairs; pair++) {
    const begin = firstEdge[pair] as number
    const end = firstEdge[pair + 1] as number
    const best = edgePrice[begin] as number
    let sum = 0
    for (let position = begin; position < end && (edgePrice[position] as number) >= best * (1 - DEPTH_PRICE_MARGIN); position++)
      sum += depths[order[position] as number] as number
    price[pair] = best
    depth[pair] = sum
  }
  return { price, depth }
}

/** Stable counting sort of `order` by increasing key. */
function countingSort(keys: Int32Array, order: Int32Array, keyCount: number): Int32Array {
  const next = new Int32Array(keyCount + 1)
  for (let position = 0; position < order.length; position++) {
    const key = (keys[position] as number) + 1
    next[key] = (next[key] as number) + 1
  }
  for (let key = 0; key < keyCount; key++) next[key + 1] = (next[key + 1] as number) + (next[key] as number)
  const sorted = new Int32Array(order.length)
  for (let position = 0; position < order.length; position++) {
    const edge = order[position] as number
    const key = keys[edge] as number
    const slot = next[key] as number
    sorted[slot] = edge
    next[key] = slot + 1
  }
  return sorted
}

/** Up to this length insertion sort is used. */
const INSERTION_SORT_MAX = 64

/** Sorts edges and their prices stably by decreasing price. */
function sortByPrice(order: Int32Array, price: Float64Array, begin: number, end: number): void {
  if (end - begin > INSERTION_SORT_MAX) {
    const [edges, prices] = [order.slice(begin, end), price.slice(begin, end)]
    const positions = edges.map((_, position) => position)
    positions.sort((a, b) => (prices[b] as number) - (prices[a] as number) || a - b)
    for (let position = begin; position < end; position++) {
      order[position] = edges[positions[position - begin] as number] as number
      price[position] = prices[positions[position - begin] as number] as number
    }
    return
  }
  for (let position = begin + 1; position < end; position++) {
    const edge = order[position] as number
    const key = price[position] as number
    let slot = position
    for (; slot > begin && (price[slot - 1] as number) < key; slot--) {
      order[slot] = order[slot - 1] as number
      price[slot] = price[slot - 1] as number
    }
    order[slot] = edge
    price[slot] = key
  }
}

/** Input that reduces the price to a quarter: for a constant product its input reserve, at most the capacity. */
export function depthOf({ reserveIn, startIn, price }: Curve): number {
  return Math.min(reserveIn[0] as number, startIn[price.length] as number)
}
