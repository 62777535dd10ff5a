import { isAboveReference } from './reference-price.ts'

/** A quote in base units of the output token, with its gas; null if the aggregator reports none. */
type Candidate = Readonly<{
  amountOut: bigint
  gas: number | null
  /** Reliability penalty in millionths. */
  penaltyPpm?: bigint
}>

/** Our own route, with the prices and costs that compare quotes. Gas is in the units that the network prices. */
export type OwnRoute = Readonly<{
  amountOut: bigint
  gas: number
  /** Price of a million gas in base units of the output token. */
  millionGasOut: bigint
  /** Output at the middle price; 0 without a middle price. */
  middleOut: bigint
  /** Output at reference prices; null without both prices. */
  referenceOut: bigint | null
  /** As `SwapChain.aggregatorGas`. */
  aggregatorGas: Readonly<{ unreported: number; overhead: number }>
}>

const MILLION = 1_000_000n
const BPS = 10_000n
/** A quote further above the middle price is implausible: an error, or bait that the swap will not pay. */
const ABOVE_MIDDLE_BPS = 500n

const netOf = (amountOut: bigint, gas: number, millionGasOut: bigint): bigint =>
  amountOut - (BigInt(gas) * millionGasOut) / MILLION

/** Of a quote, after its penalty. */
const netQuoteOf = ({ millionGasOut, aggregatorGas }: OwnRoute, quote: Candidate): bigint =>
  netOf(afterPenalty(quote), (quote.gas ?? aggregatorGas.unreported) + aggregatorGas.overhead, millionGasOut)

const afterPenalty = ({ amountOut, penaltyPpm = 0n }: Candidate): bigint =>
  amountOut - (amountOut * penaltyPpm) / MILLION

/** Whether a quote, net of gas and penalty, exceeds our own route by `gainBps` of our output. */
export function beatsOwnRoute(own: OwnRoute, quote: Candidate, gainBps: number): boolean {
  if (!isPlausible(own, quote.amountOut)) return false
  const ours = netOf(own.amountOut, own.gas, own.millionGasOut)
  return (netQuoteOf(own, quote) - ours) * BPS > own.amountOut * BigInt(gainBps)
}

function isPlausible({ amountOut, middleOut, referenceOut }: OwnRoute, quoted: bigint): boolean {
  // If our own route pays more than the reference, too, the reference is late.
  if (referenceOut !== null && isAboveReference(quoted, amountOut > referenceOut ? amountOut : referenceOut))
    return false
  const most = middleOut > amountOut ? middleOut : amountOut
  return quoted * BPS <= most * (BPS + ABOVE_MIDDLE_BPS)
}

/** The quote with the highest output net of gas and penalty that beats our own route, or null. */
export function chooseBestQuote<T extends Candidate>(own: OwnRoute, quotes: readonly T[], gainBps: number): T | null {
  const net = (quote: T) => netQuoteOf(own, quote)
  return quotes
    .filter((quote) => beatsOwnRoute(own, quote, gainBps))
    .reduce<T | null>((best, quote) => (best === null || net(quote) > net(best) ? quote : best), null)
}
