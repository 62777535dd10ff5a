import type { Http } from '../../lib/http.ts'
import type { Aggregator } from '../../ports/aggregator.ts'
import { askJson, isToken, memberOf, unitsOf } from './ask.ts'

export const openOceanUrl = 'https://open-api.openocean.finance'
/** Its names of chains. */
const chains: Readonly<Record<string, string>> = {
  eth: 'eth',
  arbitrum: 'arbitrum',
  base: 'base',
  bsc: 'bsc',
  cchain: 'avax',
  celo: 'celo',
  linea: 'linea',
  matic: 'polygon',
  op: 'optimism',
  sei: 'sei',
  sonic: 'sonic',
  uni: 'uni',
}

/** OpenOcean's API v4, `/quote`. A key is for more requests a second. */
export function createOpenOcean({
  http,
  key,
  url = openOceanUrl,
}: {
  http: Http
  key: string | null
  url?: string
}): Aggregator {
  return {
    id: 'openocean',
    serves: (network) => Object.hasOwn(chains, network),
    async amountOut({ network, tokenIn, tokenOut, amountIn }, timeoutMs) {
      const answer = await askJson({
        http,
        timeoutMs,
        url: `${url}/v4/${chains[network]}/quote`,
        headers: key === null ? {} : { apikey: key },
        query: {
          inTokenAddress: tokenIn,
          outTokenAddress: tokenOut,
          amountDecimals: amountIn.toString(),
          gasPriceDecimals: '1000000000',
        },
      })
      if (memberOf(answer, 'code') !== 200) return null
      const told = memberOf(answer, 'data')
      if (unitsOf(memberOf(told, 'inAmount')) !== amountIn) return null
      if (!isToken(memberOf(told, 'outToken', 'address'), tokenOut)) return null
      return unitsOf(memberOf(told, 'outAmount'))
    },
  }
}
