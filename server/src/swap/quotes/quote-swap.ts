import { AppError } from '../../core/domain/errors.ts'
import { formatPercent, minAfterSlippage, priceImpactPpm, referrerFeeOf } from '../../core/domain/percent.ts'
import { largest } from '../../lib/bigint.ts'
import type { RouteReliability } from '../build/route-reliability.ts'
import { chooseBestQuote } from '../domain/choose-aggregator.ts'
import { isAboveReference, isNearReference } from '../domain/reference-price.ts'
import type { SwapServices, SwapSettings } from '../interfaces.ts'
import { poolToken } from '../networks.ts'
import type { AggregatorOrder } from '../ports/aggregator.ts'
import type { RoutedSwap, Router } from '../ports/router.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import type { ExecutedSwap } from '../routing/execute.ts'
import { breakDown } from '../routing/route-breakdown.ts'
import { type AggregatorReliability, EXCLUDED_ABOVE_PPM } from './aggregator-reliability.ts'
import type { AskAggregators, RankedQuote } from './ask-aggregators.ts'
import { type FeeTermsDeps, requireFeeAddress } from './fee-terms.ts'
import { type ParsedSwap, type ReadSwapDeps, readSwapRequest } from './read-swap-request.ts'
import type { createSwapValues, ReferenceOutOf } from './swap-values.ts'

export type RouteSwapDeps = Pick<ReadSwapDeps, 'findToken'> &
  Readonly<{ router: Router; referenceOutOf: ReferenceOutOf }>

/** A request with our best route, and the amounts that the recipient gets: by that route, or by an aggregator. */
export type PricedSwap = ParsedSwap &
  Readonly<{
    routed: RoutedSwap
    /** Before the referrer fee. */
    amountOut: bigint
    fee: bigint
    received: bigint
    minReceived: bigint
    impactPpm: bigint | null
    /** What the input is worth at reference prices, in units of the output; null without both prices. */
    referenceOut: bigint | null
  }>

/**
 * Our best route, with its amounts. A route that pays more than the reference prices say is distrusted: if the pools without it pay what
 * they say, that is the route. Those of its pools that themselves pay too much are left out first, so that the deep ones remain. `avoid`:
 * ids of pools that the route must not use.
 */
export async function priceSwap(
  deps: RouteSwapDeps,
  parsed: ParsedSwap,
  avoid: readonly string[],
): Promise<PricedSwap> {
  const first = await priceRoute(deps, parsed, avoid)
  const { referenceOut, routed } = first
  if (referenceOut === null || !isAboveReference(first.amountOut, referenceOut)) return first
  const all = idsOf(routed.swaps)
  const above = idsOf(await findSwapsAboveReference(deps, parsed, routed.swaps))
  for (const pools of above.length > 0 && above.length < all.length ? [above, all] : [all]) {
    const other = await priceRoute(deps, parsed, [...avoid, ...pools]).catch((error: unknown) => {
      // Without other pools there is nothing to compare with.
      if (error instanceof AppError && error.kind === 'refused') return first
      throw error
    })
    if (isNearReference(other.amountOut, referenceOut)) return other
  }
  return first
}

const idsOf = (swaps: readonly ExecutedSwap[]): readonly string[] => [...new Set(swaps.map(({ pool }) => pool.id))]

/** Swaps that pay more than the reference prices of their own two tokens say. Without both prices a swap is not judged. */
async function findSwapsAboveReference(
  { referenceOutOf, findToken }: RouteSwapDeps,
  { network: { chain }, from, to }: ParsedSwap,
  swaps: readonly ExecutedSwap[],
): Promise<readonly ExecutedSwap[]> {
  const known = new Map([from, to].map((token) => [poolToken(chain, token.address), token]))
  const read = async (address = '') => known.get(address) ?? (await findToken(chain, address)) ?? null
  const judged = await Promise.all(
    swaps.map(async (swap) => {
      const { tokens } = swap.pool
      const [tokenIn, tokenOut] = await Promise.all([read(tokens[swap.tokenIn]), read(tokens[swap.tokenOut])])
      if (tokenIn === null || tokenOut === null) return false
      const reference = referenceOutOf(chain, { token: tokenIn, units: swap.amountIn }, tokenOut)
      return reference !== null && isAboveReference(swap.amountOut, reference)
    }),
  )
  return swaps.filter((_, index) => judged[index])
}

async function priceRoute(
  { router, referenceOutOf }: RouteSwapDeps,
  parsed: ParsedSwap,
  avoid: readonly string[],
): Promise<PricedSwap> {
  const { network, from, to, amountIn } = parsed
  const { chain } = network
  const referenceOut = referenceOutOf(chain, { token: from, units: amountIn }, to)
  const [tokenIn, tokenOut] = [poolToken(chain, from.address), poolToken(chain, to.address)]
  const { slippagePpm, feePpm } = parsed
  const terms = { tokenIn, tokenOut, amountIn, slippagePpm, feePpm }
  const routed = await router.route({ network: chain.network.id, ...terms, avoid })
  return priceAt({ ...parsed, routed, referenceOut }, routed.amountOut)
}

/** The amounts of a request for an output of `amountOut`. */
export function priceAt(swap: ParsedSwap & Pick<PricedSwap, 'routed' | 'referenceOut'>, amountOut: bigint): PricedSwap {
  const fee = referrerFeeOf(amountOut, swap.feePpm)
  const received = amountOut - fee
  const minReceived = minAfterSlippage(received, swap.slippagePpm)
  const impactPpm = priceImpactPpm(amountOut, swap.routed.middleOut)
  return { ...swap, amountOut, fee, received, minReceived, impactPpm }
}

/** An aggregator's swap may pay at most this much less than our own route, whatever the slippage. */
const BELOW_OWN_PPM = 5_000

/**
 * The amounts of an aggregator's quote. It decides alone what its call does, so the slippage that the user accepted of a market is not
 * its to take: the minimum is near what our own route would pay.
 */
export function priceAggregator(own: PricedSwap, amountOut: bigint): PricedSwap {
  const priced = priceAt(own, amountOut)
  return { ...priced, minReceived: largest(priced.minReceived, minAfterSlippage(own.received, BELOW_OWN_PPM)) }
}

export type AggregatorDeps = Readonly<{
  /** null if no aggregator is configured. */
  askAggregators: AskAggregators | null
  reliability: AggregatorReliability
  settings: Pick<SwapSettings, 'aggregatorGainBps'>
}>

export type QuoteSwapDeps = ReadSwapDeps &
  FeeTermsDeps &
  RouteSwapDeps &
  AggregatorDeps &
  Readonly<{
    valuesOf: ReturnType<typeof createSwapValues>
    routes: Pick<RouteReliability, 'avoided'>
    settings: Pick<SwapSettings, 'quoteMs' | LossLimits>
    now(): number
  }>

export function aggregatorOrderOf({ network: { chain }, from, to, amountIn }: ParsedSwap): AggregatorOrder {
  const { id, evm } = chain.network
  const tokens = { native: chain.native, tokenIn: from.address, tokenOut: to.address }
  return { network: id, chainId: evm?.chainId ?? null, ...tokens, amountIn }
}

export async function readAggregatorQuotes(
  { askAggregators }: AggregatorDeps,
  parsed: ParsedSwap,
  which: 'all' | 'callable',
): Promise<readonly RankedQuote[] | null> {
  return askAggregators === null ? null : askAggregators(aggregatorOrderOf(parsed), which)
}

export type WeightedQuote = RankedQuote & Readonly<{ penaltyPpm: bigint }>

/** Best callable aggregator quote after its reliability penalty; null if our route is better. */
export function chooseQuote(
  { settings, reliability }: AggregatorDeps,
  { routed, network, referenceOut }: PricedSwap,
  quotes: readonly RankedQuote[] | null,
): WeightedQuote | null {
  const eligible = (quotes ?? [])
    .filter(({ contract }) => contract !== null)
    .map((quote) => ({ ...quote, penaltyPpm: reliability.penaltyPpm(network.chain.network.id, quote.source) }))
    .filter(({ penaltyPpm }) => penaltyPpm <= EXCLUDED_ABOVE_PPM)
  const { aggregatorGas } = network.chain
  return chooseBestQuote({ ...routed, referenceOut, aggregatorGas }, eligible, settings.aggregatorGainBps)
}

type LossLimits = 'impactMaxPpm' | 'referenceLossMaxPpm'

/** Rejects swaps that lose too much against the pools' middle price, or against reference prices. */
export function checkLoss(
  { settings }: Readonly<{ settings: Pick<SwapSettings, LossLimits> }>,
  { routed, referenceOut, amountOut, lossMaxPpm }: PricedSwap,
): void {
  checkOne('the price impact of this amount is too high: request a smaller amount', {
    ...{ amountOut, expected: routed.middleOut, maxPpm: lossMaxPpm ?? settings.impactMaxPpm },
  })
  checkOne('the swap loses too much against reference prices: accept it with maxPriceImpact, or do not swap', {
    ...{ amountOut, expected: referenceOut ?? 0n, maxPpm: lossMaxPpm ?? settings.referenceLossMaxPpm },
  })
}

type Loss = Readonly<{ amountOut: bigint; expected: bigint; maxPpm: number }>

function checkOne(message: string, { amountOut, expected, maxPpm }: Loss): void {
  // One unit is rounding, which is much of a tiny amount.
  const lossPpm = priceImpactPpm(amountOut + 1n, expected)
  if (lossPpm === null || lossPpm <= BigInt(maxPpm)) return
  throw new AppError('PRICE_IMPACT_TOO_HIGH', message, {
    field: 'amount',
    extra: { priceImpact: formatPercent(lossPpm), max: formatPercent(maxPpm) },
  })
}

/** A route without swaps wraps or unwraps the native currency, which only the wrapped token's contract does. */
const wrapperOf = ({ wrapped }: SwapChain, { swaps }: RoutedSwap) =>
  swaps.length === 0 ? { name: 'Wrapped coin', address: wrapped } : null

/** Quotes from state in memory, without a node; aggregators are asked if configured. */
export function createQuoteSwap(deps: QuoteSwapDeps): SwapServices['quoteSwap'] {
  return async (partner, request) => {
    const parsed = await readSwapRequest(deps, request)
    await requireFeeAddress(deps, partner, parsed.network.chain, parsed.feePpm)
    const [own, aggregatorQuotes] = await Promise.all([
      priceSwap(deps, parsed, deps.routes.avoided(parsed.network.chain.network.id, null)),
      readAggregatorQuotes(deps, parsed, 'all'),
    ])
    const chosen = chooseQuote(deps, own, aggregatorQuotes)
    const priced = chosen === null ? own : priceAggregator(own, chosen.amountOut)
    checkLoss(deps, priced)
    const { network, from, to, amountIn, amountOut, routed, fee, received, minReceived, impactPpm } = priced
    const { chain } = network
    const sides = [
      { token: from, units: amountIn },
      { token: to, units: amountOut },
    ] as const
    const routes = breakDown(routed.swaps, poolToken(chain, from.address), poolToken(chain, to.address))
    // The ends of a route name the requested tokens: the native currency instead of its wrapped token.
    const requestedToken = (token: string, end: string) => (token === poolToken(chain, end) ? end : token)
    return {
      ...{ from, to, amountIn, amountOut, fee, received, minReceived, impactPpm },
      aggregatorQuotes,
      provider: chosen?.contract ? { name: chosen.source, address: chosen.contract } : wrapperOf(chain, routed),
      ...deps.valuesOf(chain, ...sides, routed.middleOut),
      routes: routes.map(({ share, hops }) => ({
        share,
        hops: hops.map((hop) => ({
          ...hop,
          from: requestedToken(hop.from, from.address),
          to: requestedToken(hop.to, to.address),
        })),
      })),
      remainders: chosen === null ? (routed.remainders ?? []) : [],
      block: routed.block,
      expiresAt: new Date(deps.now() + deps.settings.quoteMs),
      formatAddress: chain.formatAddress,
    }
  }
}
