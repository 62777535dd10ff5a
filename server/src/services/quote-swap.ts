import { AppError } from '../domain/errors.ts'
import { breakDown } from '../domain/swap/breakdown.ts'
import { feeOf, impactOf, leastOf } from '../domain/swap/percent.ts'
import { isNative } from '../domain/swap/token.ts'
import type { RoutedSwap, Router } from '../ports/router.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import type { AskAggregators, OutsideOffer } from './ask-aggregators.ts'
import { type ReadSwap, type ReadSwapDeps, readSwapRequest } from './read-swap-request.ts'
import type { SwapServices, SwapSettings } from './swap-interfaces.ts'
import type { createSwapValues } from './swap-values.ts'

export type RouteSwapDeps = Readonly<{ router: Router }>

/** A request with the route that serves it best now, and what the recipient gets by it. */
export type PricedSwap = ReadSwap &
  Readonly<{
    routed: RoutedSwap
    fee: bigint
    received: bigint
    minReceived: bigint
    impactPpm: bigint | null
  }>

export async function priceSwap({ router }: RouteSwapDeps, read: ReadSwap): Promise<PricedSwap> {
  const { network, from, to, amountIn, slippagePpm, feePpm } = read
  const { chain } = network
  const [tokenIn, tokenOut] = [inPools(chain, from.address), inPools(chain, to.address)]
  if (tokenIn === tokenOut)
    throw new AppError('NO_ROUTE', 'the coin and its wrapped token are exchanged by the token contract itself')
  const routed = await router.route({ network: chain.network.id, tokenIn, tokenOut, amountIn })
  const fee = feeOf(routed.amountOut, feePpm)
  const received = routed.amountOut - fee
  const minReceived = leastOf(received, slippagePpm)
  return { ...read, routed, fee, received, minReceived, impactPpm: impactOf(routed.amountOut, routed.middleOut) }
}

/** Pools hold the wrapped coin. */
const inPools = ({ wrapped }: SwapChain, address: string): string => (isNative(address) ? wrapped : address)

export type QuoteSwapDeps = ReadSwapDeps &
  RouteSwapDeps &
  Readonly<{
    /** null: nobody else is asked. */
    askAggregators: AskAggregators | null
    valuesOf: ReturnType<typeof createSwapValues>
    settings: Pick<SwapSettings, 'quoteMs'>
    now(): number
  }>

async function askOthers(
  { askAggregators }: QuoteSwapDeps,
  { network, from, to, amountIn }: ReadSwap,
): Promise<readonly OutsideOffer[] | null> {
  const { id, evm } = network.chain.network
  if (askAggregators === null || evm === undefined) return null
  return askAggregators({
    network: id,
    chainId: evm.chainId,
    tokenIn: from.address,
    tokenOut: to.address,
    amountIn,
  })
}

/** From state in memory: no database, no node. */
export function createQuoteSwap(deps: QuoteSwapDeps): SwapServices['quoteSwap'] {
  return async (request) => {
    const read = await readSwapRequest(deps, request)
    const [priced, outside] = await Promise.all([priceSwap(deps, read), askOthers(deps, read)])
    const { network, from, to, amountIn, routed, fee, received, minReceived, impactPpm } = priced
    const { chain } = network
    const sides = [
      { token: from, units: amountIn },
      { token: to, units: routed.amountOut },
    ] as const
    const routes = breakDown(routed.swaps, inPools(chain, from.address), inPools(chain, to.address))
    // At the ends of a route stands what the partner gives and gets.
    const asked = (token: string, end: string) => (token === inPools(chain, end) ? end : token)
    return {
      ...{ from, to, amountIn, amountOut: routed.amountOut, fee, received, minReceived, impactPpm },
      outside,
      ...deps.valuesOf(chain, ...sides, routed.middleOut),
      routes: routes.map(({ bps, hops }) => ({
        bps,
        hops: hops.map((hop) => ({ ...hop, from: asked(hop.from, from.address), to: asked(hop.to, to.address) })),
      })),
      block: routed.block,
      expiresAt: new Date(deps.now() + deps.settings.quoteMs),
      spell: chain.spell,
    }
  }
}
