/** One swap of a split: it moves `share` of the balance of token `from`, at the time of the swap, to token `to`. */
export type Flow = Readonly<{ from: number; to: number; share: number }>

/** A swap that hands input to others keeps at least this share of its weight. */
const WEIGHT_FACTOR_MIN = 1e-3

/**
 * New shares that reduce the input of the saturated swap `swapIndex` by the share `reduction`. Moves the excess at the closest token
 * upstream that has another swap, and brings no more to the swaps in `full`, which are saturated, too. Null if there is no alternative.
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
    // Input of the saturated swap that one unit of weight at this token removes, as a share of the source.
    const effect =
      (inflow.get((flows[donor] as Flow).from) ?? 0) *
      ((shareToSwap[donor] as number) - (shareToSwap[recipient] as number))
    if (!(effect > 0)) continue
    const shift = Math.min(remaining / effect, (weights[donor] as number) * (1 - WEIGHT_FACTOR_MIN))
    weights[donor] = (weights[donor] as number) - shift
    weights[recipient] = (weights[recipient] as number) + shift
    remaining -= shift * effect
  }
  return remaining < excess ? sharesOf(flows, weights) : null
}

/** The swap of the same token that leads less flow to saturated swaps, weighted by its own flow; −1 if there is no such swap. */
function findRecipient(
  flows: readonly Flow[],
  weights: Float64Array,
  shareToFull: Float64Array,
  donor: number,
): number {
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

/** Each swap's share of the total flow through its token. */
function weightsOf(flows: readonly Flow[]): Float64Array {
  const remaining = new Map<number, number>()
  return Float64Array.from(flows, ({ from, share }) => {
    const balance = remaining.get(from) ?? 1
    remaining.set(from, balance * (1 - share))
    return balance * share
  })
}

/** Share of the source's value that arrives at each token. */
function inflowOf(flows: readonly Flow[], weights: Float64Array): ReadonlyMap<number, number> {
  const inflow = new Map([[flows[0]?.from ?? 0, 1]])
  for (const [index, { from, to }] of flows.entries())
    inflow.set(to, (inflow.get(to) ?? 0) + (inflow.get(from) ?? 0) * (weights[index] as number))
  return inflow
}

/** By swap, the share of its flow that reaches one of the swaps `ends`. */
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

/** Converts weights back to shares of the remaining balance. The last swap of each token takes all of it. */
function sharesOf(flows: readonly Flow[], weights: Float64Array): readonly number[] {
  const remaining = new Map<number, number>()
  for (const [index, { from }] of flows.entries())
    remaining.set(from, (remaining.get(from) ?? 0) + (weights[index] as number))
  return flows.map(({ from, share }, index) => {
    if (share === 1) return 1
    const balance = remaining.get(from) as number
    remaining.set(from, balance - (weights[index] as number))
    return Math.min(1, (weights[index] as number) / balance)
  })
}
