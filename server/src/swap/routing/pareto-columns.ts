import { type Column, type DetourHop, earningOf, type Pricing, pathEarning, spreadGain } from './column.ts'
import { curveAt, depthOf, type Market } from './market.ts'
import { keepBuffers } from './search-buffers.ts'

/** A path from an included token to `token`. */
type Label = Readonly<{
  token: number
  hops: number
  /** Cost of one unit of the token, in units of the target. */
  cost: number
  /** 1 ÷ depth of the path, in units of the target. A path of constant products is one itself. */
  inverseDepth: number
  /** Its last hop, and the path without it; null at the included token. */
  last: DetourHop | null
  before: Label | null
}>

type Search = Readonly<{
  market: Market
  pricing: Pricing
  threshold: number
  ratioMax: number
  /** By token, its lowest cost with the hops so far, whatever the depth; 0 = not reached. */
  lowest: Float64Array
  labels: Map<number, readonly Label[]>
}>

/** A path hides another one only if it costs less and has at least half of its depth. */
const DEPTH_FACTOR = 2
/** Most paths to one token. */
const LABELS_MAX = 16
/** Where a dual price is nearly zero, the ratio says nothing. */
const RATIO_MAX = 1e9

const readLowest = keepBuffers((tokenCount) => new Float64Array(tokenCount))

/**
 * Columns by cost and depth: keeps all paths to a token that no other path beats in both. It leaves out paths that cannot gain `threshold`,
 * because no path brings more than `ratioMax` times its cost: those over a pair that earns less at that ratio, and those that cost more
 * than that ratio times the cheapest.
 */
export function findParetoColumns(
  market: Market,
  pricing: Pricing,
  threshold: number,
  ratioMax: number,
): readonly Column[] {
  const { included, valueAt, hopCounts, hopsMax } = pricing
  const lowest = readLowest(market.tokenCount, hopsMax).fill(0, 0, market.tokenCount)
  const limits = { threshold, ratioMax: Math.min(ratioMax, RATIO_MAX) }
  const search: Search = { market, pricing, ...limits, lowest, labels: new Map() }
  const best = new Map<number, Column>()
  let frontier: readonly Label[] = []
  for (let hops = 1; hops < hopsMax; hops++) {
    const reached: Label[] = []
    // No pair leaves the target.
    for (const [index, token] of included.entries())
      if (index !== 1 && hopCounts.fromSource[token] === hops - 1)
        extend(search, startAt(token, hops - 1, valueAt[token] as number), reached)
    for (const label of frontier) extend(search, label, reached)
    frontier = reached.filter((label) => search.labels.get(label.token)?.includes(label))
    for (const label of frontier) {
      const column = columnOver(search, label)
      if (column !== null && column.gain > (best.get(label.token)?.gain ?? 0)) best.set(label.token, column)
    }
  }
  return [...best.values()]
}

const startAt = (token: number, hops: number, cost: number): Label => ({
  ...{ token, hops, cost },
  ...{ inverseDepth: 0, last: null, before: null },
})

/** Adds the paths that continue `label` by one hop to `reached`. */
function extend(search: Search, label: Label, reached: Label[]): void {
  const { market, pricing, ratioMax, lowest } = search
  const hops = label.hops + 1
  const { valueAt, tollFactor, hopCounts, hopsMax } = pricing
  const end = market.firstPair[label.token + 1] as number
  for (let pair = market.firstPair[label.token] as number; pair < end; pair++) {
    const token = market.pairTo[pair] as number
    if (market.isIntermediate[token] === 0 || (valueAt[token] as number) > 0) continue
    if (hops + (hopCounts.toTarget[token] as number) > hopsMax) continue
    const unit = label.cost / ((market.price[pair] as number) * tollFactor)
    const least = lowest[token] as number
    if (least === 0 || unit < least) lowest[token] = unit
    else if (unit > least * ratioMax) continue
    if (isOnPath(label, token) || !canEarn(search, pair, label.cost)) continue
    const priceMin = label.cost / ((lowest[token] as number) * ratioMax * tollFactor)
    for (const { price, depth } of depthSteps(market, pair, priceMin)) {
      const cost = label.cost / (price * tollFactor)
      const inverseDepth = label.inverseDepth + 1 / (label.cost * depth)
      const last = { pair, price, cost: label.cost }
      keepLabel(search.labels, { token, hops, cost, inverseDepth, last, before: label }, reached)
    }
  }
}

function isOnPath(label: Label, token: number): boolean {
  for (let at: Label | null = label; at !== null; at = at.before) if (at.token === token) return true
  return false
}

/** Whether the pair earns more than the threshold at the highest ratio. */
const canEarn = ({ market, threshold, ratioMax }: Search, pair: number, cost: number): boolean =>
  cost * (market.depth[pair] as number) * (Math.sqrt(ratioMax) - 1) ** 2 > threshold ||
  earningOf(market, { pair, price: market.price[pair] as number, cost }, ratioMax) > threshold

type DepthStep = Readonly<{ price: number; depth: number }>

/** Prices of a pair's pools from `priceMin` on, each with the depth of all pools that are at least as good, where that has doubled. */
function depthSteps(market: Market, pair: number, priceMin: number): readonly DepthStep[] {
  const { firstEdge, edgePrice } = market
  const steps: DepthStep[] = []
  const end = firstEdge[pair + 1] as number
  let depth = 0
  for (let edge = firstEdge[pair] as number; edge < end; edge++) {
    const price = edgePrice[edge] as number
    if (price < priceMin) break
    depth += depthOf(curveAt(market, edge))
    if (depth >= DEPTH_FACTOR * (steps.at(-1)?.depth ?? 0)) steps.push({ price, depth })
  }
  return steps
}

/** Adds a path to its token's, unless one of them hides it, and drops those that it hides. */
function keepLabel(labels: Map<number, readonly Label[]>, label: Label, reached: Label[]): void {
  const others = labels.get(label.token) ?? []
  const { hops, cost, inverseDepth } = label
  if (others.length >= LABELS_MAX) return
  if (others.some((other) => other.cost <= cost && other.inverseDepth <= DEPTH_FACTOR * inverseDepth)) return
  // Paths of fewer hops can be continued further.
  const kept = others.filter((other) => other.hops < hops || other.cost < cost || other.inverseDepth < inverseDepth)
  labels.set(label.token, [...kept, label])
  reached.push(label)
}

/** The path and the last pair to an included token that gain most together, or null if they gain no more than the threshold. */
function columnOver({ market, pricing, threshold }: Search, label: Label): Column | null {
  const { included, valueAt, tollFactor, hopCounts, hopsMax } = pricing
  let gain = threshold
  let bestRatio = 0
  const end = market.firstPair[label.token + 1] as number
  for (let pair = market.firstPair[label.token] as number; pair < end; pair++) {
    const next = market.pairTo[pair] as number
    const value = valueAt[next] as number
    if (value === 0 || next === included[0] || label.hops + 1 + (hopCounts.toTarget[next] as number) > hopsMax) continue
    if (!(value * (market.price[pair] as number) * tollFactor > label.cost)) continue
    for (const { price, depth } of depthSteps(market, pair, label.cost / (value * tollFactor))) {
      const ratio = (value * price * tollFactor) / label.cost
      const hop = { pair, price, cost: label.cost }
      let earned = (Math.sqrt(ratio) - 1) ** 2 / (label.inverseDepth + 1 / (label.cost * depth))
      // Pools with a level price, such as bins, earn more than their whole depth shows.
      if (!(earned > threshold)) earned = pathEarning(market, [...hopsOf(label), hop], ratio)
      if (!(earned > gain)) continue
      gain = earned
      bestRatio = ratio
    }
  }
  if (bestRatio === 0) return null
  const labels = labelsOf(label)
  return {
    from: labels[0]?.before?.token as number,
    tokens: labels.map(({ token }) => token),
    values: spreadGain(
      labels.map(({ cost }) => cost),
      bestRatio,
    ),
    gain,
  }
}

/** The labels of a path's tokens outside of the subproblem, in order. */
function labelsOf(label: Label): readonly Label[] {
  const labels: Label[] = []
  for (let at: Label | null = label; at?.before; at = at.before) labels.unshift(at)
  return labels
}

const hopsOf = (label: Label): readonly DetourHop[] => labelsOf(label).flatMap(({ last }) => last ?? [])
