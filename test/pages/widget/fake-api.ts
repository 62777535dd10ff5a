import type { Page, Route } from 'playwright-core'
import type { Currency, RateQuote, TrackedExchange } from '../../../sdk/src/index.ts'

/* Answers of the API that a sandbox cannot be brought to give, in the place of the real ones. */

export const token = 'AZjFonwee3qfDS9vHAqbfh8jB2x0qk4m1y9r8p3w5sE'
const id = '0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'
export const depositAddress = 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH'

export function makeCurrency(ticker: string, network: string, change: Partial<Currency> = {}): Currency {
  return {
    ...{ ticker, network, symbol: ticker.toUpperCase(), name: ticker, decimals: 8, rank: 1, confirmations: 2 },
    ...{ hasMemo: false, requireMemo: false, memoName: null, isFiat: false, isStable: false },
    ...{ supportsFixedRate: true, enabled: true, image: `http://127.0.0.1/icons/${ticker}.svg`, regexAddress: '^.+$' },
    ...{ addressExplorer: 'https://explorer.example/address/{}', txExplorer: 'https://explorer.example/tx/{}' },
    ...{ contractAddress: null, chainId: null },
    ...change,
  }
}

export const currencies = [
  makeCurrency('xrp', 'xrp', { name: 'XRP', decimals: 6, hasMemo: true, memoName: 'Destination tag' }),
  makeCurrency('eth', 'eth', { name: 'Ether', decimals: 18 }),
  makeCurrency('usdt', 'trx', { name: 'Tether USD', decimals: 6, isStable: true }),
]

export const quote: RateQuote = {
  ...{ min: 5, max: 1_000, minTo: 0.003, maxTo: 0.626, fromAmount: 100, toAmount: 0.0625 },
  ...{ fromCurrency: 'xrp', fromNetwork: 'xrp', toCurrency: 'eth', toNetwork: 'eth' },
  ...{ amountFromUsd: '220.5', amountToUsd: '219.1', rateId: 'rate-1', validUntil: '2026-01-02T03:05:05.000Z' },
  fees: { service: '0.0003', partner: '0', network: '0.0001', payout: '0.00005' },
}

export function makeTracked(change: Partial<TrackedExchange> = {}): TrackedExchange {
  return {
    ...{ id, created: '2026-01-02T03:04:05.000Z', exchangeType: 'standard', status: 'pending', statusReason: null },
    request: {
      ...{ fromCurrency: 'xrp', fromNetwork: 'xrp', toCurrency: 'eth', toNetwork: 'eth' },
      ...{ amountFromRequested: '100', amountToRequested: '0.0625', depositAddress, depositMemo: '48213377' },
      ...{ recipientAddress: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045', recipientMemo: null },
      ...{ refundAddress: null, refundMemo: null, flow: 'fixed-rate' },
    },
    ...{ deposits: [], needsRefundAddress: false, expectedSeconds: 60 },
    ...{ expiresAt: '2026-01-03T03:04:05.000Z', fixedUntil: '2026-01-02T03:24:05.000Z' },
    ...{ confirmationsRequired: 2, confirmationsSeen: 0 },
    ...change,
  }
}

export const makeError = (statusCode: number, code: string, problem: object = {}) => ({
  ...{ message: 'for developers', error: 'Error', statusCode, code, requestId: 'request-7' },
  errors: [{ code, ...problem }],
})

export type Replies = Readonly<{
  currencies?: readonly Currency[]
  quote?: object
  validation?: object
  created?: object
  tracked?: TrackedExchange
  /** Of every answer. */
  headers?: Readonly<Record<string, string>>
}>

/** Refusals of a key, which the server hides from pages. */
const hiddenCodes: readonly unknown[] = ['API_KEY_INVALID', 'API_KEY_MISSING', 'IP_NOT_ALLOWED', 'ORIGIN_NOT_ALLOWED']

/** Answers what the widget asks. An answer with a `statusCode` is an error. */
export async function fakeApi(page: Page, replies: Replies = {}): Promise<void> {
  const created = { ...makeTracked(), exchanges: [], trackingUrl: `http://127.0.0.1:1/track/${token}` }
  const answersOf = (): Readonly<Record<string, object>> => ({
    '/v1/cross-chain/available-currencies': replies.currencies ?? currencies,
    '/v1/cross-chain/rate': replies.quote ?? quote,
    '/v1/cross-chain/address/validate': replies.validation ?? { valid: true, address: '0x', memo: null, errors: [] },
    '/v1/cross-chain/exchange': replies.created ?? created,
    '/v1/track': replies.tracked ?? makeTracked(),
  })
  await page.route('**/v1/**', (route: Route) => {
    const known = answersOf()[new URL(route.request().url()).pathname]
    const answer = known ?? makeError(404, 'ROUTE_NOT_FOUND')
    const isHidden = known === undefined || ('code' in known && hiddenCodes.includes(known.code))
    return route.fulfill({
      status: 'statusCode' in answer ? Number(answer.statusCode) : 200,
      headers: {
        ...(isHidden ? {} : { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' }),
        ...{ 'content-type': 'application/json', ...replies.headers },
      },
      body: JSON.stringify(answer),
    })
  })
  await page.route('**/icons/**', (route) =>
    route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
  )
}
