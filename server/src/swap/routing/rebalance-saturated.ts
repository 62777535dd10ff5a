/** One swap of a split: of what is there of `from` when it is its turn, `share` goes on to `to`. */
export type Flow = Readonly<{ from: number; to: number; share: number }>

/** A swap that gives to others keeps at least this share of what it has. */
const WEIGHT_FACTOR_MIN = 1e-3

/**
 * The shares that let `part` less of what arrives at the swap `place` arrive there: from the nearest token on the way to it of
 * which more can go another way, but not to those in `full`, which take no more either. Null where nothing can go elsewhere.
 */
export function rebalanceSaturated(
  flows: readonly Flow[],
  swapIndex: number,
  reduction: number,
  full: ReadonlySet<number>,
): readonly number[] | null {
  const weights = weightsOf(flows)
  const inflow = inflowOf(flows, weights)
  const shareToSwap = shareReaching(flows, weights, new Set([swapIndex]))
  const shareToFull = shareReaching(flows, weights, new Set([swapIndex, ...full]))
  const excess = reduction * (inflow.get((flows[swapIndex] as Flow).from) ?? 0) * (weights[swapIndex] as number)
  let remaining = excess
  for (let donor = swapIndex; donor >= 0 && remaining > 0; donor--) {
    const recipient = findRecipient(flows, weights, shareToFull, donor)
    if (recipient < 0) continue
    // In parts of what is there of the token.
    const effect = (inflow.get((flows[donor] as Flow).from) ?? 0) * ((shareToSwap[donor] as number) - (shareToSwap[recipient] as number))
    if (!(effect > 0)) continue
    const shift = Math.min(remaining / effect, (weights[donor] as number) * (1 - WEIGHT_FACTOR_MIN))
    weights[donor] = (weights[donor] as number) - shift
    weights[recipient] = (weights[recipient] as number) + shift
    remaining -= shift * effect
  }
  return remaining < excess ? sharesOf(flows, weights) : null
}

/** Of the same token, from which less arrives at full pools; of those the one that takes most. */
function findRecipient(flows: readonly Flow[], weights: Float64Array, shareToFull: Float64Array, donor: number): number {
  let best = -1
  let most = 0
  for (const [index, { from }] of flows.entries()) {
    if (from !== flows[donor]?.from) continue
    const gain = ((shareToFull[donor] as number) - (shareToFull[index] as number)) * (weights[index] as number)
    if (gain <= most) continue
    best = index
    most = gain
  }
  return best
}

/** Parts of all that is there of each swap's token. */
function weightsOf(flows: readonly Flow[]): Float64Array {
  const remaining = new Map<number, number>()
  return Float64Array.from(flows, ({ from, share }) => {
    const balance = remaining.get(from) ?? 1
    remaining.set(from, balance * (1 - share))
    return balance * share
  })
}

/** How much of the source arrives at each token, in parts of its worth. */
function inflowOf(flows: readonly Flow[], weights: Float64Array): ReadonlyMap<number, number> {
  const inflow = new Map([[flows[0]?.from ?? 0, 1]])
  for (const [index, { from, to }] of flows.entries())
    inflow.set(to, (inflow.get(to) ?? 0) + (inflow.get(from) ?? 0) * (weights[index] as number))
  return inflow
}

/** By swap, how much of what it takes ends in one of the swaps `ends`. */
function shareReaching(flows: readonly Flow[], weights: Float64Array, ends: ReadonlySet<number>): Float64Array {
  const shares = new Float64Array(flows.length)
  const shareOfToken = new Map<number, number>()
  for (let index = flows.length - 1; index >= 0; index--) {
    const { from, to } = flows[index] as Flow
    shares[index] = ends.has(index) ? 1 : (shareOfToken.get(to) ?? 0)
    shareOfToken.set(from, (shareOfToken.get(from) ?? 0) + (shares[index] as number) * (weights[index] as number))
  }
  return shares
}

/** Swap by swap of what is left; the last of each token takes all of it. */
function sharesOf(flows: readonly Flow[], weights: Float64Array): readonly number[] {
  const remaining = new Map<number, number>()
  for (const [index, { from }] of flows.entries()) remaining.set(from, (remaining.get(from) ?? 0) + (weights[index] as number))
  return flows.map(({ from, share }, index) => {
    if (share === 1) return 1
    const balance = remaining.get(from) as number
    remaining.set(from, balance - (weights[index] as number))
    return Math.min(1, (weights[index] as number) / balance)
  })
}
