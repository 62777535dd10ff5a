/** One swap of a split: of what is there of `from` when it is its turn, `share` goes on to `to`. */
export type Flow = Readonly<{ from: number; to: number; share: number }>

/** A swap that gives to others keeps at least this share of what it has. */
const KEPT = 1e-3

/**
 * The shares that let `part` less of what arrives at the swap `place` arrive there: from the nearest token on the way to it of
 * which more can go another way, but not to those in `full`, which take no more either. Null where nothing can go elsewhere.
 */
export function relieve(
  flows: readonly Flow[],
  place: number,
  part: number,
  full: ReadonlySet<number>,
): readonly number[] | null {
  const weights = weightsOf(flows)
  const reach = reachOf(flows, weights)
  const toPlace = leadsTo(flows, weights, new Set([place]))
  const toFull = leadsTo(flows, weights, new Set([place, ...full]))
  const excess = part * (reach.get((flows[place] as Flow).from) ?? 0) * (weights[place] as number)
  let left = excess
  for (let giver = place; giver >= 0 && left > 0; giver--) {
    const taker = takerFor(flows, weights, toFull, giver)
    if (taker < 0) continue
    // In parts of what is there of the token.
    const by = (reach.get((flows[giver] as Flow).from) ?? 0) * ((toPlace[giver] as number) - (toPlace[taker] as number))
    if (!(by > 0)) continue
    const moved = Math.min(left / by, (weights[giver] as number) * (1 - KEPT))
    weights[giver] = (weights[giver] as number) - moved
    weights[taker] = (weights[taker] as number) + moved
    left -= moved * by
  }
  return left < excess ? sharesOf(flows, weights) : null
}

/** Of the same token, from which less arrives at full pools; of those the one that takes most. */
function takerFor(flows: readonly Flow[], weights: Float64Array, toFull: Float64Array, giver: number): number {
  let best = -1
  let most = 0
  for (const [at, { from }] of flows.entries()) {
    if (from !== flows[giver]?.from) continue
    const gain = ((toFull[giver] as number) - (toFull[at] as number)) * (weights[at] as number)
    if (gain <= most) continue
    best = at
    most = gain
  }
  return best
}

/** Parts of all that is there of each swap's token. */
function weightsOf(flows: readonly Flow[]): Float64Array {
  const left = new Map<number, number>()
  return Float64Array.from(flows, ({ from, share }) => {
    const there = left.get(from) ?? 1
    left.set(from, there * (1 - share))
    return there * share
  })
}

/** How much of the source arrives at each token, in parts of its worth. */
function reachOf(flows: readonly Flow[], weights: Float64Array): ReadonlyMap<number, number> {
  const reach = new Map([[flows[0]?.from ?? 0, 1]])
  for (const [at, { from, to }] of flows.entries())
    reach.set(to, (reach.get(to) ?? 0) + (reach.get(from) ?? 0) * (weights[at] as number))
  return reach
}

/** By swap, how much of what it takes ends in one of the swaps `ends`. */
function leadsTo(flows: readonly Flow[], weights: Float64Array, ends: ReadonlySet<number>): Float64Array {
  const leads = new Float64Array(flows.length)
  const ofToken = new Map<number, number>()
  for (let at = flows.length - 1; at >= 0; at--) {
    const { from, to } = flows[at] as Flow
    leads[at] = ends.has(at) ? 1 : (ofToken.get(to) ?? 0)
    ofToken.set(from, (ofToken.get(from) ?? 0) + (leads[at] as number) * (weights[at] as number))
  }
  return leads
}

/** Swap by swap of what is left; the last of each token takes all of it. */
function sharesOf(flows: readonly Flow[], weights: Float64Array): readonly number[] {
  const left = new Map<number, number>()
  for (const [at, { from }] of flows.entries()) left.set(from, (left.get(from) ?? 0) + (weights[at] as number))
  return flows.map(({ from, share }, at) => {
    if (share === 1) return 1
    const there = left.get(from) as number
    left.set(from, there - (weights[at] as number))
    return Math.min(1, (weights[at] as number) / there)
  })
}
