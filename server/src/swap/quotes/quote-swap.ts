import { AppError } from '../../core/domain/errors.ts'
import { referrerFeeOf, formatPercent, priceImpactPpm, minAfterSlippage } from '../../core/domain/percent.ts'
import { chooseBestQuote } from '../domain/choose-aggregator.ts'
import { isNative } from '../domain/token.ts'
import type { SwapServices, SwapSettings } from '../interfaces.ts'
import type { AggregatorOrder } from '../ports/aggregator.ts'
import type { RoutedSwap, Router } from '../ports/router.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import { breakDown } from '../routing/route-breakdown.ts'
import { type AggregatorReliability, EXCLUDED_ABOVE_PPM } from './aggregator-reliability.ts'
import type { AskAggregators, RankedQuote } from './ask-aggregators.ts'
import { type ParsedSwap, type ReadSwapDeps, readSwapRequest } from './read-swap-request.ts'
import type { createSwapValues } from './swap-values.ts'

export type RouteSwapDeps = Readonly<{ router: Router }>

/** A request with our own route that serves it best now, and what the recipient gets, by it or by somebody else's. */
export type PricedSwap = ParsedSwap &
  Readonly<{
    routed: RoutedSwap
    /** Before the fee. */
    amountOut: bigint
    fee: bigint
    received: bigint
    minReceived: bigint
    impactPpm: bigint | null
  }>

export async function priceSwap({ router }: RouteSwapDeps, read: ParsedSwap): Promise<PricedSwap> {
  const { network, from, to, amountIn } = read
  const { chain } = network
  const [tokenIn, tokenOut] = [inPools(chain, from.address), inPools(chain, to.address)]
  const routed = await router.route({ network: chain.network.id, tokenIn, tokenOut, amountIn })
  return priceAt({ ...read, routed }, routed.amountOut)
}

/** The same request where so much is paid for it. */
export function priceAt(swap: ParsedSwap & Pick<PricedSwap, 'routed'>, amountOut: bigint): PricedSwap {
  const fee = referrerFeeOf(amountOut, swap.feePpm)
  const received = amountOut - fee
  const minReceived = minAfterSlippage(received, swap.slippagePpm)
  const impactPpm = priceImpactPpm(amountOut, swap.routed.middleOut)
  return { ...swap, amountOut, fee, received, minReceived, impactPpm }
}

/** Pools hold the wrapped coin. */
const inPools = ({ wrapped }: SwapChain, address: string): string => (isNative(address) ? wrapped : address)

export type AggregatorDeps = Readonly<{
  /** null: nobody else is asked. */
  askAggregators: AskAggregators | null
  reliability: AggregatorReliability
  settings: Pick<SwapSettings, 'aggregatorGainBps'>
}>

export type QuoteSwapDeps = ReadSwapDeps &
  RouteSwapDeps &
  AggregatorDeps &
  Readonly<{
    valuesOf: ReturnType<typeof createSwapValues>
    settings: Pick<SwapSettings, 'quoteMs' | 'impactMaxPpm'>
    now(): number
  }>

/** What others are asked; null where they are not. */
export function aggregatorOrderOf({ network, from, to, amountIn }: ParsedSwap): AggregatorOrder | null {
  const { id, evm } = network.chain.network
  if (evm === undefined) return null
  return { network: id, chainId: evm.chainId, tokenIn: from.address, tokenOut: to.address, amountIn }
}

export async function readAggregatorQuotes(
  { askAggregators }: AggregatorDeps,
  read: ParsedSwap,
  whom: 'all' | 'callable',
): Promise<readonly RankedQuote[] | null> {
  const order = aggregatorOrderOf(read)
  return askAggregators === null || order === null ? null : askAggregators(order, whom)
}

export type WeightedQuote = RankedQuote & Readonly<{ penaltyPpm: bigint }>

/** Whose offer serves better than our own route, of those that can be called, for what its word is worth. */
export function chooseQuote(
  { settings, reliability }: AggregatorDeps,
  { routed, network }: PricedSwap,
  offers: readonly RankedQuote[] | null,
): WeightedQuote | null {
  const open = (offers ?? [])
    .filter(({ contract }) => contract !== null)
    .map((offer) => ({ ...offer, penaltyPpm: reliability.penaltyPpm(network.chain.network.id, offer.source) }))
    .filter(({ penaltyPpm }) => penaltyPpm <= EXCLUDED_ABOVE_PPM)
  return chooseBestQuote(routed, open, settings.aggregatorGainBps)
}

/** Whoever loses more than the bound by it asks for more than there is. */
export function checkImpact(
  { settings: { impactMaxPpm } }: Readonly<{ settings: Pick<SwapSettings, 'impactMaxPpm'> }>,
  { impactPpm }: PricedSwap,
): void {
  if (impactPpm === null || impactPpm <= BigInt(impactMaxPpm)) return
  throw new AppError('PRICE_IMPACT_TOO_HIGH', 'the pools are too shallow for this amount: ask for less', {
    field: 'amount',
    extra: { priceImpact: formatPercent(impactPpm), max: formatPercent(impactMaxPpm) },
  })
}

/** Without a swap the coin is wrapped, or unwrapped: the wrapped coin's contract alone does that. */
const wrapperOf = ({ wrapped }: SwapChain, { swaps }: RoutedSwap) =>
  swaps.length === 0 ? { name: 'Wrapped coin', address: wrapped } : null

/** From state in memory: no database, no node. */
export function createQuoteSwap(deps: QuoteSwapDeps): SwapServices['quoteSwap'] {
  return async (request) => {
    const read = await readSwapRequest(deps, request)
    const [own, outside] = await Promise.all([priceSwap(deps, read), readAggregatorQuotes(deps, read, 'all')])
    const chosen = chooseQuote(deps, own, outside)
    const priced = chosen === null ? own : priceAt(own, chosen.amountOut)
    checkImpact(deps, priced)
    const { network, from, to, amountIn, amountOut, routed, fee, received, minReceived, impactPpm } = priced
    const { chain } = network
    const sides = [
      { token: from, units: amountIn },
      { token: to, units: amountOut },
    ] as const
    const routes = breakDown(routed.swaps, inPools(chain, from.address), inPools(chain, to.address))
    // At the ends of a route stands what the partner gives and gets.
    const asked = (token: string, end: string) => (token === inPools(chain, end) ? end : token)
    return {
      ...{ from, to, amountIn, amountOut, fee, received, minReceived, impactPpm },
      outside,
      provider: chosen?.contract ? { name: chosen.source, address: chosen.contract } : wrapperOf(chain, routed),
      ...deps.valuesOf(chain, ...sides, routed.middleOut),
      routes: routes.map(({ bps, hops }) => ({
        bps,
        hops: hops.map((hop) => ({ ...hop, from: asked(hop.from, from.address), to: asked(hop.to, to.address) })),
      })),
      block: routed.block,
      expiresAt: new Date(deps.now() + deps.settings.quoteMs),
      formatAddress: chain.formatAddress,
    }
  }
}
