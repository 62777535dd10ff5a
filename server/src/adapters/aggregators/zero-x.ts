import type { Http } from '../../lib/http.ts'
import type { Aggregator, AggregatorOrder } from '../../swap/ports/aggregator.ts'
import { gasOf, isSameToken, memberOf, requestJson, textOf, toTransaction, unitsOf } from './request-json.ts'

export const zeroXUrl = 'https://api.0x.org'
/** Our networks that its documentation lists. */
const networks = new Set(['eth', 'arbitrum', 'base', 'bsc', 'cchain', 'linea', 'matic', 'op', 'uni'])
/** AllowanceHolder on chains with and without the Cancun fork, from its documentation. Settler contracts change often and are not listed. */
const holder = '0x0000000000001ff3684f28c67538d4d072c22734'
const londonHolder = '0x000000000000175a8b9bc6d539b3708eed92ea6c'
const BPS_IN_PPM = 100

export type ZeroXOptions = Readonly<{
  http: Http
  key: string
  url?: string
  /** Replaces the published contracts, by network. */
  contracts?: ReadonlyMap<string, readonly string[]>
}>

/** 0x Swap API v2, `/swap/allowance-holder`. A price is indicative and needs no taker. */
export function createZeroX({ http, key, url = zeroXUrl, contracts }: ZeroXOptions): Aggregator {
  const ask = (path: 'price' | 'quote', order: AggregatorOrder, more: Record<string, string>, timeoutMs: number) =>
    requestJson({
      http,
      timeoutMs,
      url: `${url}/swap/allowance-holder/${path}`,
      headers: { '0x-api-key': key, '0x-version': 'v2' },
      query: {
        chainId: String(order.chainId),
        sellToken: order.tokenIn,
        buyToken: order.tokenOut,
        sellAmount: order.amountIn.toString(),
        ...more,
      },
    })
  return {
    id: '0x',
    serves: (network) => networks.has(network),
    contracts: (network) => contracts?.get(network) ?? [network === 'linea' ? londonHolder : holder],
    async quote(order, timeoutMs) {
      const answer = await ask('price', order, {}, timeoutMs)
      const amountOut = amountOf(answer, order)
      return amountOut === null ? null : { amountOut, gas: gasOf(memberOf(answer, 'gas')) }
    },
    async build(order, timeoutMs) {
      const slippageBps = String(Math.ceil(order.slippagePpm / BPS_IN_PPM))
      const answer = await ask('quote', order, { taker: order.taker, slippageBps }, timeoutMs)
      const [target, calldata] = [memberOf(answer, 'transaction', 'to'), memberOf(answer, 'transaction', 'data')]
      const value = memberOf(answer, 'transaction', 'value')
      const call = toTransaction(amountOf(answer, order), { target, calldata, value })
      const spender =
        textOf(memberOf(answer, 'issues', 'allowance', 'spender')) ?? textOf(memberOf(answer, 'allowanceTarget'))
      return call && { ...call, spender }
    },
  }
}

function amountOf(answer: unknown, { tokenOut, amountIn }: AggregatorOrder): bigint | null {
  if (memberOf(answer, 'liquidityAvailable') !== true) return null
  if (unitsOf(memberOf(answer, 'sellAmount')) !== amountIn) return null
  if (!isSameToken(memberOf(answer, 'buyToken'), tokenOut)) return null
  return unitsOf(memberOf(answer, 'buyAmount'))
}
