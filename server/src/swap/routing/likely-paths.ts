import type { Market } from './market.ts'
import { keepBuffers } from './search-buffers.ts'

/**
 * A promising path of pairs. `tokens` begins with the source; `marginalPrices` has the marginal price of each hop at the planned amount.
 */
export type LikelyPath = Readonly<{ tokens: readonly number[]; marginalPrices: readonly number[] }>

/** A path that pays a smaller share of the best one's output is left out: dual prices would say nothing of its tokens. */
const OUTPUT_SHARE_MIN = 1e-6

/**
 * Start of the search: one promising path per length over the whole market, by dynamic programming over (hops, token). Each pair is
 * approximated by one constant product of its spot price and depth, which costs one multiplication per pair.
 */
export function likelyPaths(
  market: Market,
  source: number,
  target: number,
  amount: number,
  hopsMax: number,
): readonly LikelyPath[] {
  const { hopsToTarget, viaPairs: viaPairBuffers, ...amounts } = buffersFor(market.tokenCount, hopsMax)
  countHops(market, target, hopsMax, hopsToTarget)
  const viaPairs: Int32Array[] = []
  let { now, last } = amounts
  last[source] = amount
  let frontier: readonly number[] = [source]
  const paths: LikelyPath[] = []
  const outputs: number[] = []
  for (let hop = 1; hop <= hopsMax && frontier.length > 0; hop++) {
    const viaPair = viaPairBuffers[hop - 1] as Int32Array
    const from = frontier
    frontier = relax(market, { now, last, viaPair, frontier, hopsToTarget, hopsLeft: hopsMax - hop, source, target })
    viaPairs.push(viaPair)
    if ((now[target] as number) > 0) {
      paths.push(tracePath(market, viaPairs, source, target, amount))
      outputs.push(now[target] as number)
    }
    for (const token of from) last[token] = 0
    last[target] = 0
    ;[last, now] = [now, last]
  }
  const least = OUTPUT_SHARE_MIN * Math.max(...outputs)
  return paths.filter((_, index) => (outputs[index] as number) >= least)
}

type Buffers = Readonly<{
  hopsToTarget: Int8Array
  now: Float64Array
  last: Float64Array
  viaPairs: readonly Int32Array[]
}>

/** `viaPairs` are read only where an amount was written. */
const readBuffers = keepBuffers(
  (tokenCount, hopsMax): Buffers => ({
    hopsToTarget: new Int8Array(tokenCount),
    now: new Float64Array(tokenCount),
    last: new Float64Array(tokenCount),
    viaPairs: Array.from({ length: hopsMax }, () => new Int32Array(tokenCount)),
  }),
)

function buffersFor(tokenCount: number, hopsMax: number): Buffers {
  const buffers = readBuffers(tokenCount, hopsMax)
  buffers.hopsToTarget.fill(UNREACHABLE, 0, tokenCount)
  buffers.now.fill(0, 0, tokenCount)
  buffers.last.fill(0, 0, tokenCount)
  return buffers
}

type Relaxation = Readonly<{
  now: Float64Array
  last: Float64Array
  /** The last pair of the best path to each token. */
  viaPair: Int32Array
  frontier: readonly number[]
  hopsToTarget: Int8Array
  hopsLeft: number
  source: number
  target: number
}>

/** Extends the paths to all frontier tokens by one hop. Returns the next frontier. */
function relax(
  market: Market,
  { now, last, viaPair, frontier, hopsToTarget, hopsLeft, source, target }: Relaxation,
): number[] {
  const { firstPair, pairTo, price, depth, isIntermediate } = market
  const reached: number[] = []
  for (const token of frontier) {
    const amount = last[token] as number
    let begin = firstPair[token] as number
    let end = firstPair[token + 1] as number
    // The last hop leads only to the target.
    if (hopsLeft === 0) {
      begin = firstTo(pairTo, begin, end, target)
      end = Math.min(end, begin + 1)
    }
    for (let pair = begin; pair < end; pair++) {
      const next = pairTo[pair] as number
      if (
        (hopsToTarget[next] as number) > hopsLeft ||
        next === source ||
        (next !== target && isIntermediate[next] === 0)
      )
        continue
      const output = (amount * (price[pair] as number)) / (1 + amount / (depth[pair] as number))
      const best = now[next] as number
      if (output <= best) continue
      if (best === 0 && next !== target) reached.push(next)
      now[next] = output
      viaPair[next] = pair
    }
  }
  return reached
}

/** The first of the pairs begin … end − 1, which are sorted by their second token, whose second token is `token` or larger. */
function firstTo(pairTo: Int32Array, begin: number, end: number, token: number): number {
  let low = begin
  let high = end
  while (low < high) {
    const middle = (low + high) >> 1
    if ((pairTo[middle] as number) < token) low = middle + 1
    else high = middle
  }
  return low
}

/** More hops than any limit. */
const UNREACHABLE = 127

/** By token, the least hops from the source and to the target; 127 from the limit of hops on. */
export type HopCounts = Readonly<{ fromSource: Int8Array; toTarget: Int8Array }>

export function hopCountsOf(market: Market, source: number, target: number, hopsMax: number): HopCounts {
  const fromSource = new Int8Array(market.tokenCount).fill(UNREACHABLE)
  const toTarget = new Int8Array(market.tokenCount).fill(UNREACHABLE)
  countHops(market, source, hopsMax, fromSource)
  countHops(market, target, hopsMax, toTarget)
  return { fromSource, toTarget }
}

/**
 * Writes the number of hops from every token to `target` into `hops`, which is filled with UNREACHABLE and stays so from `hopsMax` hops on.
 * Searches from the target, because pools trade in both directions.
 */
function countHops(
  { firstPair, pairTo, isIntermediate }: Market,
  target: number,
  hopsMax: number,
  hops: Int8Array,
): void {
  hops[target] = 0
  let frontier = [target]
  for (let hop = 1; hop < hopsMax; hop++) {
    const reached: number[] = []
    for (const token of frontier) {
      const end = firstPair[token + 1] as number
      for (let pair = firstPair[token] as number; pair < end; pair++) {
        const next = pairTo[pair] as number
        if ((hops[next] as number) <= hop) continue
        hops[next] = hop
        if (isIntermediate[next] === 1) reached.push(next)
      }
    }
    frontier = reached
  }
}

function tracePath(
  market: Market,
  viaPairs: readonly Int32Array[],
  source: number,
  target: number,
  amount: number,
): LikelyPath {
  const pairs: number[] = []
  let token = target
  for (let hop = viaPairs.length - 1; hop >= 0; hop--) {
    const pair = (viaPairs[hop] as Int32Array)[token] as number
    pairs.unshift(pair)
    token = market.pairFrom[pair] as number
  }
  let hopAmount = amount
  const marginalPrices = pairs.map((pair) => {
    const price = market.price[pair] as number
    const divisor = 1 + hopAmount / (market.depth[pair] as number)
    hopAmount = (hopAmount * price) / divisor
    return price / (divisor * divisor)
  })
  return { tokens: [source, ...pairs.map((pair) => market.pairTo[pair] as number)], marginalPrices }
}
