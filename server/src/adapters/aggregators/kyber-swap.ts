import type { Http } from '../../lib/http.ts'
import type { Aggregator, AggregatorOrder } from '../../swap/ports/aggregator.ts'
import { gasOf, isSameToken, memberOf, requestJson, toTransaction, unitsOf } from './request-json.ts'

export const kyberSwapUrl = 'https://aggregator-api.kyberswap.com'
/** The API's chain names. */
const chains: Readonly<Record<string, string>> = {
  eth: 'ethereum',
  arbitrum: 'arbitrum',
  base: 'base',
  bsc: 'bsc',
  cchain: 'avalanche',
  linea: 'linea',
  matic: 'polygon',
  op: 'optimism',
  sonic: 'sonic',
  uni: 'unichain',
}
/** MetaAggregationRouterV2, the same on all of them. */
const metaRouter = '0x6131b5fae19ea4f9d964eac0408e4408b66337b5'
const BPS_IN_PPM = 100
/** The API refuses more by default. Our router enforces the actual minimum. */
const SLIPPAGE_MAX_BPS = 2_000

export type KyberSwapOptions = Readonly<{
  http: Http
  client: string
  url?: string
  /** Replaces the published contracts, by network. */
  contracts?: ReadonlyMap<string, readonly string[]>
}>

/** KyberSwap's aggregator API v1, `/routes` and `/route/build`. Clients must identify themselves by `x-client-id`. */
export function createKyberSwap({ http, client, url = kyberSwapUrl, contracts }: KyberSwapOptions): Aggregator {
  const at = (network: string, path: string) => `${url}/${chains[network]}/api/v1/${path}`
  const headers = { 'x-client-id': client }
  /** The route summary; undefined for a reply to another request. */
  async function readRouteSummary({ network, tokenIn, tokenOut, amountIn }: AggregatorOrder, timeoutMs: number) {
    const query = { tokenIn, tokenOut, amountIn: amountIn.toString(), source: client }
    const answer = await requestJson({ http, timeoutMs, url: at(network, 'routes'), headers, query })
    if (memberOf(answer, 'code') !== 0) return undefined
    const summary = memberOf(answer, 'data', 'routeSummary')
    if (unitsOf(memberOf(summary, 'amountIn')) !== amountIn) return undefined
    return isSameToken(memberOf(summary, 'tokenOut'), tokenOut) ? summary : undefined
  }
  return {
    id: 'kyberswap',
    serves: (network) => Object.hasOwn(chains, network),
    contracts: (network) => contracts?.get(network) ?? [metaRouter],
    async quote(order, timeoutMs) {
      const summary = await readRouteSummary(order, timeoutMs)
      const amountOut = unitsOf(memberOf(summary, 'amountOut'))
      return amountOut === null ? null : { amountOut, gas: gasOf(memberOf(summary, 'gas')) }
    },
    async build(order, timeoutMs) {
      const startedAt = performance.now()
      const routeSummary = await readRouteSummary(order, timeoutMs)
      const remainingMs = Math.floor(timeoutMs - (performance.now() - startedAt))
      if (routeSummary === undefined || remainingMs <= 0) return null
      const { network, taker, slippagePpm, amountIn } = order
      const slippageTolerance = Math.min(Math.ceil(slippagePpm / BPS_IN_PPM), SLIPPAGE_MAX_BPS)
      const body = { routeSummary, sender: taker, recipient: taker, slippageTolerance, source: client }
      const answer = await requestJson({ http, timeoutMs: remainingMs, url: at(network, 'route/build'), headers, body })
      if (memberOf(answer, 'code') !== 0) return null
      const built = memberOf(answer, 'data')
      if (unitsOf(memberOf(built, 'amountIn')) !== amountIn) return null
      const amountOut = unitsOf(memberOf(built, 'amountOut'))
      const [target, calldata] = [memberOf(built, 'routerAddress'), memberOf(built, 'data')]
      return toTransaction(amountOut, { target, calldata, value: memberOf(built, 'transactionValue') })
    },
  }
}
