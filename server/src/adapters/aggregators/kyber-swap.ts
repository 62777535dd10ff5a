import type { Http } from '../../lib/http.ts'
import type { Aggregator, AggregatorOrder } from '../../swap/ports/aggregator.ts'
import { callOf, gasOf, isToken, memberOf, requestJson, unitsOf } from './request-json.ts'

export const kyberSwapUrl = 'https://aggregator-api.kyberswap.com'
/** Its names of chains. */
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
/** It refuses more, unless told to ignore that; the minimum that counts is our router's. */
const SLIPPAGE_MOST_BPS = 2_000

export type KyberSwapOptions = Readonly<{
  http: Http
  client: string
  url?: string
  /** In place of those that it publishes, by network. */
  contracts?: ReadonlyMap<string, readonly string[]>
}>

/** KyberSwap's aggregator API v1, `/routes` and `/route/build`. It asks clients to say who they are. */
export function createKyberSwap({ http, client, url = kyberSwapUrl, contracts }: KyberSwapOptions): Aggregator {
  const at = (network: string, path: string) => `${url}/${chains[network]}/api/v1/${path}`
  const headers = { 'x-client-id': client }
  /** What it would do; undefined where it answers another question. */
  async function summaryOf({ network, tokenIn, tokenOut, amountIn }: AggregatorOrder, timeoutMs: number) {
    const query = { tokenIn, tokenOut, amountIn: amountIn.toString(), source: client }
    const answer = await requestJson({ http, timeoutMs, url: at(network, 'routes'), headers, query })
    if (memberOf(answer, 'code') !== 0) return undefined
    const summary = memberOf(answer, 'data', 'routeSummary')
    if (unitsOf(memberOf(summary, 'amountIn')) !== amountIn) return undefined
    return isToken(memberOf(summary, 'tokenOut'), tokenOut) ? summary : undefined
  }
  return {
    id: 'kyberswap',
    serves: (network) => Object.hasOwn(chains, network),
    contracts: (network) => contracts?.get(network) ?? [metaRouter],
    async quote(order, timeoutMs) {
      const summary = await summaryOf(order, timeoutMs)
      const amountOut = unitsOf(memberOf(summary, 'amountOut'))
      return amountOut === null ? null : { amountOut, gas: gasOf(memberOf(summary, 'gas')) }
    },
    async build(order, timeoutMs) {
      const begun = performance.now()
      const routeSummary = await summaryOf(order, timeoutMs)
      const left = Math.floor(timeoutMs - (performance.now() - begun))
      if (routeSummary === undefined || left <= 0) return null
      const { network, taker, slippagePpm, amountIn } = order
      const slippageTolerance = Math.min(Math.ceil(slippagePpm / BPS_IN_PPM), SLIPPAGE_MOST_BPS)
      const body = { routeSummary, sender: taker, recipient: taker, slippageTolerance, source: client }
      const answer = await requestJson({ http, timeoutMs: left, url: at(network, 'route/build'), headers, body })
      if (memberOf(answer, 'code') !== 0) return null
      const built = memberOf(answer, 'data')
      if (unitsOf(memberOf(built, 'amountIn')) !== amountIn) return null
      const amountOut = unitsOf(memberOf(built, 'amountOut'))
      const [target, calldata] = [memberOf(built, 'routerAddress'), memberOf(built, 'data')]
      return callOf(amountOut, { target, calldata, value: memberOf(built, 'transactionValue') })
    },
  }
}
