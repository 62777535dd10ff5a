import type { Http } from '../../lib/http.ts'
import type { Aggregator } from '../../ports/aggregator.ts'
import { askJson, memberOf, unitsOf } from './ask.ts'

export const zeroXUrl = 'https://api.0x.org'
/** Of the networks that we know, those that its documentation lists. */
const networks = new Set(['eth', 'arbitrum', 'base', 'bsc', 'cchain', 'linea', 'matic', 'op', 'uni'])

/** 0x Swap API v2, `/swap/allowance-holder/price`: an indication, for which nobody's account is needed. */
export function createZeroX({ http, key, url = zeroXUrl }: { http: Http; key: string; url?: string }): Aggregator {
  return {
    id: '0x',
    serves: (network) => networks.has(network),
    async amountOut({ chainId, tokenIn, tokenOut, amountIn }, timeoutMs) {
      const answer = await askJson({
        http,
        timeoutMs,
        url: `${url}/swap/allowance-holder/price`,
        headers: { '0x-api-key': key, '0x-version': 'v2' },
        query: {
          chainId: String(chainId),
          sellToken: tokenIn,
          buyToken: tokenOut,
          sellAmount: amountIn.toString(),
        },
      })
      if (memberOf(answer, 'liquidityAvailable') !== true) return null
      if (unitsOf(memberOf(answer, 'sellAmount')) !== amountIn) return null
      return unitsOf(memberOf(answer, 'buyAmount'))
    },
  }
}
