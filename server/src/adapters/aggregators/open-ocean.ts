import { formatPercent } from '../../core/domain/percent.ts'
import type { Http } from '../../lib/http.ts'
import type { Aggregator, AggregatorOrder } from '../../swap/ports/aggregator.ts'
import { gasOf, isSameToken, memberOf, requestJson, toTransaction, unitsOf } from './request-json.ts'

export const openOceanUrl = 'https://open-api.openocean.finance'
/** The API's chain names. */
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
/** OpenOceanExchange V2, the same on all of them. */
const exchange = '0x6352a56caadc4f1e25cd6c75970fa768a3304e64'
/** The API's minimum: 0.05 %. */
const SLIPPAGE_MIN_PPM = 500

export type OpenOceanOptions = Readonly<{
  http: Http
  key: string | null
  url?: string
  /** Replaces the published contracts, by network. */
  contracts?: ReadonlyMap<string, readonly string[]>
}>

/** OpenOcean's API v4, `/quote` and `/swap`. A key raises the rate limit. */
export function createOpenOcean({ http, key, url = openOceanUrl, contracts }: OpenOceanOptions): Aggregator {
  const ask = (path: 'quote' | 'swap', order: AggregatorOrder, more: Record<string, string>, timeoutMs: number) =>
    requestJson({
      http,
      timeoutMs,
      url: `${url}/v4/${chains[order.network]}/${path}`,
      headers: key === null ? {} : { apikey: key },
      query: {
        inTokenAddress: order.tokenIn,
        outTokenAddress: order.tokenOut,
        amountDecimals: order.amountIn.toString(),
        gasPriceDecimals: '1000000000',
        ...more,
      },
    })
  return {
    id: 'openocean',
    serves: (network) => Object.hasOwn(chains, network),
    contracts: (network) => contracts?.get(network) ?? [exchange],
    async quote(order, timeoutMs) {
      const answer = await ask('quote', order, {}, timeoutMs)
      const amountOut = amountOf(answer, order)
      return amountOut === null ? null : { amountOut, gas: gasOf(memberOf(answer, 'data', 'estimatedGas')) }
    },
    async build(order, timeoutMs) {
      const slippage = formatPercent(Math.max(order.slippagePpm, SLIPPAGE_MIN_PPM))
      const answer = await ask('swap', order, { slippage, account: order.taker }, timeoutMs)
      const [target, calldata] = [memberOf(answer, 'data', 'to'), memberOf(answer, 'data', 'data')]
      return toTransaction(amountOf(answer, order), { target, calldata, value: memberOf(answer, 'data', 'value') })
    },
  }
}

function amountOf(answer: unknown, { tokenOut, amountIn }: AggregatorOrder): bigint | null {
  if (memberOf(answer, 'code') !== 200) return null
  const data = memberOf(answer, 'data')
  if (unitsOf(memberOf(data, 'inAmount')) !== amountIn) return null
  if (!isSameToken(memberOf(data, 'outToken', 'address'), tokenOut)) return null
  return unitsOf(memberOf(data, 'outAmount'))
}
