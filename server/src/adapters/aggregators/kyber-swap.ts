import type { Http } from '../../lib/http.ts'
import type { Aggregator } from '../../ports/aggregator.ts'
import { askJson, isToken, memberOf, unitsOf } from './ask.ts'

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

/** KyberSwap's aggregator API v1, `/routes`. It asks clients to say who they are. */
export function createKyberSwap({
  http,
  client,
  url = kyberSwapUrl,
}: {
  http: Http
  client: string
  url?: string
}): Aggregator {
  return {
    id: 'kyberswap',
    serves: (network) => Object.hasOwn(chains, network),
    async amountOut({ network, tokenIn, tokenOut, amountIn }, timeoutMs) {
      const answer = await askJson({
        http,
        timeoutMs,
        url: `${url}/${chains[network]}/api/v1/routes`,
        headers: { 'x-client-id': client },
        query: { tokenIn, tokenOut, amountIn: amountIn.toString(), source: client },
      })
      if (memberOf(answer, 'code') !== 0) return null
      const summary = memberOf(answer, 'data', 'routeSummary')
      if (unitsOf(memberOf(summary, 'amountIn')) !== amountIn) return null
      if (!isToken(memberOf(summary, 'tokenOut'), tokenOut)) return null
      return unitsOf(memberOf(summary, 'amountOut'))
    },
  }
}
