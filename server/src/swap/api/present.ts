import type {
  DefiCurrency,
  DexExchange,
  SwapQuote as WireQuote,
  SwapRoute as WireRoute,
  SubRoute as WireStep,
} from '@swapyard/schema'
import { formatUnits } from '../../core/domain/amount.ts'
import { formatPercent } from '../../core/domain/percent.ts'
import { formatUsd } from '../../core/domain/price.ts'
import { tokenIconPath } from '../../core/http/icons.ts'
import type { SwapQuoteView, SwapView, TokenView } from '../interfaces.ts'
import { poolFeePpm } from '../routing/pool-fee.ts'
import { type RoutePath, toPercent } from '../routing/route-breakdown.ts'

/** The network was validated when the request was read. */
type WireNetwork = DefiCurrency['network']

export function presentToken({ token, enabled, icon }: TokenView, publicUrl: string): DefiCurrency {
  const { name, address, decimals, symbol, network } = token
  const image = icon ?? `${publicUrl}${tokenIconPath(symbol)}`
  return { name, address, decimals, symbol, network: network as WireNetwork, enabled, image }
}

export function presentQuote(view: SwapQuoteView): WireQuote {
  const { from, to, amountIn, amountOut, fee, received, minReceived, fromUsd, toUsd: usd, impactPpm } = view
  return {
    fromAmount: formatUnits(amountIn, from.decimals),
    usdFromAmount: fromUsd === null ? '' : formatUsd(fromUsd),
    toAmount: formatUnits(amountOut, to.decimals),
    usdToAmount: usd === null ? '' : formatUsd(usd),
    receivedAmount: formatUnits(received, to.decimals),
    fee: formatUnits(fee, to.decimals),
    routes:
      view.provider === null
        ? view.routes.map((route) => presentRoute(route, view.formatAddress))
        : [presentProvider(view)],
    priceImpact: impactPpm === null ? '' : formatPercent(impactPpm),
    fromAmountRaw: amountIn.toString(),
    toAmountRaw: amountOut.toString(),
    receivedAmountRaw: received.toString(),
    minReceived: formatUnits(minReceived, to.decimals),
    ...(view.aggregatorQuotes === null
      ? {}
      : {
          alternatives: view.aggregatorQuotes.map((quote) => ({
            source: quote.source,
            toAmount: formatUnits(quote.amountOut, to.decimals),
          })),
        }),
    ...(view.remainders.length === 0
      ? {}
      : {
          remainders: view.remainders.map(({ token, decimals, units }) => ({
            address: view.formatAddress(token),
            amount: formatUnits(units, decimals),
            amountRaw: units.toString(),
          })),
        }),
    block: view.block.height,
    expiresAt: view.expiresAt.toISOString(),
  }
}

const PPM_IN_PERCENT = 10_000

function presentRoute({ share, hops }: RoutePath, formatAddress: (address: string) => string): WireRoute {
  return {
    percentage: toPercent(share),
    subRoutes: hops.map(
      ({ from, to, pools }): WireStep => ({
        from: formatAddress(from),
        to: formatAddress(to),
        dexes: pools.map(({ swap: { pool, tokenIn }, share: part }) => ({
          name: pool.dex,
          address: formatAddress(pool.address),
          fee: poolFeePpm(pool, tokenIn) / PPM_IN_PERCENT,
          percentage: toPercent(part),
        })),
      }),
    ),
  }
}

/** One step for an aggregator or the wrapped token, whose route is not known. Its fee is in its price. */
function presentProvider({ provider, from, to, formatAddress }: SwapQuoteView): WireRoute {
  const dexes = [
    { name: provider?.name ?? '', address: formatAddress(provider?.address ?? ''), fee: 0, percentage: 100 },
  ]
  return { percentage: 100, subRoutes: [{ from: formatAddress(from.address), to: formatAddress(to.address), dexes }] }
}

export function presentSwap({ swap, formatAddress }: SwapView): DexExchange {
  const { from, to, receivedUnits } = swap
  return {
    id: swap.id,
    created: swap.createdAt.toISOString(),
    updated: swap.updatedAt.toISOString(),
    network: swap.network as WireNetwork,
    fromTokenAddress: formatAddress(from.token),
    toTokenAddress: formatAddress(to.token),
    amountFrom: formatUnits(from.units, from.decimals),
    amountTo: formatUnits(receivedUnits ?? to.units, to.decimals),
    addressFrom: formatAddress(swap.sender),
    addressTo: formatAddress(swap.recipient),
    commissionPercentage: formatPercent(swap.feePpm),
    status: swap.status,
    hash: swap.hash,
    statusReason: swap.reason,
    externalId: swap.externalId,
  }
}
