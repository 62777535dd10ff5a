import type { Curve } from './curve.ts'

/** Directions through pools, as columns; tokens and pools are numbers within the market. Pools come in rising order. */
export type EdgeList = Readonly<{
  pool: Int32Array
  from: Int32Array
  to: Int32Array
  curve: readonly Curve[]
  /** Marginal price of the first unit, and `depthOf`. */
  price: Float64Array
  depth: Float64Array
}>

/**
 * The pools of one network as the search walks them. An edge is one direction through one pool; a pair is all edges from one
 * token to another, best price first. Built once for each change of the pools; a quote reads it and changes nothing.
 */
export type Market = Readonly<{
  tokenCount: number
  /** By edge. */
  curve: readonly Curve[]
  pool: Int32Array
  pairOf: Int32Array
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

/** Of equal prices the lower pool comes first. Sorted by counting: a market is built anew with every block. */
export function createMarket(tokenCount: number, edges: EdgeList): Market {
  const count = edges.curve.length
  const rising = new Int32Array(count)
  for (let edge = 0; edge < count; edge++) rising[edge] = edge
  const order = sortedBy(edges.from, sortedBy(edges.to, rising, tokenCount), tokenCount)
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
    if (end - begin > 1) sortByPrice(order, begin, end, edges.price)
    for (let place = begin; place < end; place++) pairOf[place] = pairs
    firstPair[from + 1] = (firstPair[from + 1] as number) + 1
    pairFrom[pairs] = from
    pairTo[pairs] = to
    firstEdge[pairs] = begin
    begin = end
  }
  firstEdge[pairs] = count
  const between = new Uint8Array(tokenCount)
  for (let token = 0; token < tokenCount; token++) {
    if ((firstPair[token + 1] as number) > 1) between[token] = 1
    firstPair[token + 1] = (firstPair[token + 1] as number) + (firstPair[token] as number)
  }
  return {
    tokenCount,
    ...inOrder(edges, order),
    ...{ pairOf, firstPair, pairFrom: pairFrom.subarray(0, pairs), pairTo: pairTo.subarray(0, pairs) },
    firstEdge: firstEdge.subarray(0, pairs + 1),
    ...summed(edges, order, firstEdge, pairs),
    between,
  }
}

function inOrder(edges: EdgeList, order: Int32Array) {
  const curve = new Array<Curve>(order.length)
  const pool = new Int32Array(order.length)
  for (let place = 0; place < order.length; place++) {
    const edge = order[place] as number
    curve[place] = edges.curve[edge] as Curve
    pool[place] = edges.pool[edge] as number
  }
  return { curve, pool }
}

/** The best price of each pair, and how deep its pools are near it. */
function summed(edges: EdgeList, order: Int32Array, firstEdge: Int32Array, pairs: number) {
  const price = new Float64Array(pairs)
  const depth = new Float64Array(pairs)
  for (let pair = 0; pair < pairs; pair++) {
    const begin = firstEdge[pair] as number
    const end = firstEdge[pair + 1] as number
    const best = edges.price[order[begin] as number] as number
    let sum = 0
    for (let place = begin; place < end; place++) {
      const edge = order[place] as number
      if ((edges.price[edge] as number) >= best * (1 - DEEP)) sum += edges.depth[edge] as number
    }
    price[pair] = best
    depth[pair] = sum
  }
  return { price, depth }
}

/** `order` by rising key; what has the same key stays as it stands. */
function sortedBy(keys: Int32Array, order: Int32Array, keyCount: number): Int32Array {
  const next = new Int32Array(keyCount + 1)
  for (let place = 0; place < order.length; place++) {
    const key = (keys[place] as number) + 1
    next[key] = (next[key] as number) + 1
  }
  for (let key = 0; key < keyCount; key++) next[key + 1] = (next[key + 1] as number) + (next[key] as number)
  const sorted = new Int32Array(order.length)
  for (let place = 0; place < order.length; place++) {
    const edge = order[place] as number
    const key = keys[edge] as number
    const at = next[key] as number
    sorted[at] = edge
    next[key] = at + 1
  }
  return sorted
}

/** So few are sorted one by one. */
const SHORT = 16

/** By falling price; of equal prices the first stays first. */
function sortByPrice(order: Int32Array, begin: number, end: number, price: Float64Array): void {
  if (end - begin > SHORT) {
    order.subarray(begin, end).sort((a, b) => (price[b] as number) - (price[a] as number) || a - b)
    return
  }
  for (let place = begin + 1; place < end; place++) {
    const edge = order[place] as number
    const worth = price[edge] as number
    let at = place
    for (; at > begin && (price[order[at - 1] as number] as number) < worth; at--) order[at] = order[at - 1] as number
    order[at] = edge
  }
}

/** A constant product falls to a quarter of its price when as much went in as lay there. */
export function depthOf({ reserveIn, startIn, price }: Curve): number {
  return Math.min(reserveIn[0] as number, startIn[price.length] as number)
}
