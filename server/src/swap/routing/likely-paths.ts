import type { Market } from './market.ts'

/** A path of pairs that looks good: tokens after the source, and what a further unit of the token before each would bring. */
export type Likely = Readonly<{ tokens: readonly number[]; slopes: readonly number[] }>

/**
 * Where to begin looking, one path for each length, over the whole market: as above, but every pair is taken for one constant
 * product of its best price and its depth. One multiplication a pair.
 */
export function likelyPaths(
  market: Market,
  source: number,
  target: number,
  amount: number,
  hopsMax: number,
): readonly Likely[] {
  const { near, arrivals: roomyArrivals, ...amounts } = memoryFor(market.tokenCount, hopsMax)
  hopsTo(market, target, hopsMax, near)
  const arrivals: Int32Array[] = []
  let { now, last } = amounts
  last[source] = amount
  let frontier: readonly number[] = [source]
  const likely: Likely[] = []
  for (let hop = 1; hop <= hopsMax && frontier.length > 0; hop++) {
    const arrival = roomyArrivals[hop - 1] as Int32Array
    const from = frontier
    frontier = relax(market, { now, last, arrival, frontier, near, hopsLeft: hopsMax - hop, source, target })
    arrivals.push(arrival)
    if ((now[target] as number) > 0) likely.push(traceLikely(market, arrivals, source, target, amount))
    for (const token of from) last[token] = 0
    last[target] = 0
    ;[last, now] = [now, last]
  }
  return likely
}

type Memory = Readonly<{ near: Int8Array; now: Float64Array; last: Float64Array; arrivals: readonly Int32Array[] }>

const createMemory = (tokenCount: number, hopsMax: number): Memory => ({
  near: new Int8Array(tokenCount),
  now: new Float64Array(tokenCount),
  last: new Float64Array(tokenCount),
  arrivals: Array.from({ length: hopsMax }, () => new Int32Array(tokenCount)),
})

/** Used by one search after the other, as it costs more than many of them. Arrivals are read only where an amount was written. */
let roomy = createMemory(1024, 4)

function memoryFor(tokenCount: number, hopsMax: number): Memory {
  const [tokens, hops] = [roomy.now.length, roomy.arrivals.length]
  if (tokenCount > tokens || hopsMax > hops)
    roomy = createMemory(tokenCount > tokens ? 2 * tokenCount : tokens, Math.max(hopsMax, hops))
  roomy.near.fill(FAR, 0, tokenCount)
  roomy.now.fill(0, 0, tokenCount)
  roomy.last.fill(0, 0, tokenCount)
  return roomy
}

type Relaxation = Readonly<{
  now: Float64Array
  last: Float64Array
  /** The pair by which each token got its amount. */
  arrival: Int32Array
  frontier: readonly number[]
  near: Int8Array
  hopsLeft: number
  source: number
  target: number
}>

/** One hop further from every token of the frontier. Gives the tokens that go on. */
function relax(market: Market, { now, last, arrival, frontier, near, hopsLeft, source, target }: Relaxation): number[] {
  const { firstPair, pairTo, price, depth, between } = market
  const reached: number[] = []
  for (const token of frontier) {
    const amount = last[token] as number
    let begin = firstPair[token] as number
    let end = firstPair[token + 1] as number
    // The last hop leads to the target alone.
    if (hopsLeft === 0) {
      begin = firstTo(pairTo, begin, end, target)
      end = Math.min(end, begin + 1)
    }
    for (let pair = begin; pair < end; pair++) {
      const next = pairTo[pair] as number
      if ((near[next] as number) > hopsLeft || next === source || (next !== target && between[next] === 0)) continue
      const output = (amount * (price[pair] as number)) / (1 + amount / (depth[pair] as number))
      const best = now[next] as number
      if (output <= best) continue
      if (best === 0 && next !== target) reached.push(next)
      now[next] = output
      arrival[next] = pair
    }
  }
  return reached
}

/** Of the pairs begin … end − 1, which stand in the order of their targets, the first that leads to `token` or beyond it. */
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

/** Not within the hops allowed. */
const FAR = 127

/** Hops from every token to `target` into `hops`, which is all FAR; FAR = `hopsMax` or more. Pools trade both ways: hops to are hops from. */
function hopsTo({ firstPair, pairTo, between }: Market, target: number, hopsMax: number, hops: Int8Array): void {
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
        if (between[next] === 1) reached.push(next)
      }
    }
    frontier = reached
  }
}

function traceLikely(
  market: Market,
  arrivals: readonly Int32Array[],
  source: number,
  target: number,
  amount: number,
): Likely {
  const pairs: number[] = []
  let token = target
  for (let hop = arrivals.length - 1; hop >= 0; hop--) {
    const pair = (arrivals[hop] as Int32Array)[token] as number
    pairs.unshift(pair)
    token = market.pairFrom[pair] as number
  }
  let through = amount
  const slopes = pairs.map((pair) => {
    const price = market.price[pair] as number
    const shrink = 1 + through / (market.depth[pair] as number)
    through = (through * price) / shrink
    return price / (shrink * shrink)
  })
  return { tokens: [source, ...pairs.map((pair) => market.pairTo[pair] as number)], slopes }
}
