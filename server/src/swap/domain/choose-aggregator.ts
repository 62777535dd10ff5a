/** What somebody would pay for an input, in base units of the target, and the gas that it takes. */
type Paying = Readonly<{
  amountOut: bigint
  gas: number | null
  /** Millionths that it counts less, for what it did not keep before. */
  penaltyPpm?: bigint
}>

/** Our own route, and what it is measured by. */
export type OwnRoute = Readonly<{
  amountOut: bigint
  gas: number
  /** What a million gas cost in base units of the target. */
  millionGasOut: bigint
  /** What the input would bring at the middle price; 0 where there is none. */
  middleOut: bigint
}>

/** Of a router that does not say: a route over a few pools. */
const GAS_UNTOLD = 400_000
/** Our router, the executor, and the allowance of the outside router that is set and taken back. */
const GAS_AROUND = 90_000
const MILLION = 1_000_000n
const BPS = 10_000n
/** An offer so far above the middle price is a mistake, or a bait: whoever makes it will not pay it. */
const ABOVE_MIDDLE_BPS = 500n

/** What an offer pays, less its gas. */
const netOf = (amountOut: bigint, gas: number, millionGasOut: bigint): bigint =>
  amountOut - (BigInt(gas) * millionGasOut) / MILLION

const countedOf = ({ amountOut, penaltyPpm = 0n }: Paying): bigint => amountOut - (amountOut * penaltyPpm) / MILLION

/** Whether an offer is worth leaving our own route for: net of gas it pays more by `gainBps` of what ours pays. */
export function beatsOwnRoute(own: OwnRoute, offer: Paying, gainBps: number): boolean {
  if (!isLikely(own, offer.amountOut)) return false
  const ours = netOf(own.amountOut, own.gas, own.millionGasOut)
  const theirs = netOf(countedOf(offer), (offer.gas ?? GAS_UNTOLD) + GAS_AROUND, own.millionGasOut)
  return (theirs - ours) * BPS > own.amountOut * BigInt(gainBps)
}

function isLikely({ amountOut, middleOut }: OwnRoute, offered: bigint): boolean {
  const most = middleOut > amountOut ? middleOut : amountOut
  return offered * BPS <= most * (BPS + ABOVE_MIDDLE_BPS)
}

/** The offer that pays most net of gas, of those that beat our own route; null where none does. */
export function chooseBestQuote<T extends Paying>(own: OwnRoute, offers: readonly T[], gainBps: number): T | null {
  const net = (offer: T) => netOf(countedOf(offer), offer.gas ?? GAS_UNTOLD, own.millionGasOut)
  return offers
    .filter((offer) => beatsOwnRoute(own, offer, gainBps))
    .reduce<T | null>((best, offer) => (best === null || net(offer) > net(best) ? offer : best), null)
}
