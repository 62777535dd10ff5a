import type { partnerErrorCodeNames } from './errors.ts'

/** What the 404 of an operation says. */
export type NotFoundExample = Readonly<{
  code: (typeof partnerErrorCodeNames)[number]
  message: string
  field?: string
}>

const exchange = (message: string, field: string) => ({ code: 'EXCHANGE_NOT_FOUND', message, field }) as const

/** Examples of answers, with the messages of the server. */
export const notFound = {
  currencyOfPair: {
    code: 'CURRENCY_NOT_FOUND',
    message: 'fromCurrency "zzz" on network "btc" is not listed: use a pair of the currency list',
    field: 'fromCurrency',
  },
  currency: {
    code: 'CURRENCY_NOT_FOUND',
    message: 'this currency is not listed: use one of the currency list',
    field: 'currency',
  },
  exchange: exchange('no exchange with this id: check the id', 'id'),
  exchangeOfAnyType: exchange('no exchange with this id: check the id and the endpoint', 'id'),
  standardExchange: exchange('no standard exchange with this id: check the id and the endpoint', 'id'),
  privateExchange: exchange('no private exchange with this id: check the id and the endpoint', 'id'),
  trackedExchange: exchange('no exchange with this token: use the token of a trackingUrl', 'token'),
  swap: exchange('no swap with this id: check it', 'id'),
  token: { code: 'TOKEN_NOT_FOUND', message: 'there is no token at this address', field: 'address' },
  tokenOfSwap: {
    code: 'TOKEN_NOT_FOUND',
    message: 'there is no token at fromTokenAddress',
    field: 'fromTokenAddress',
  },
  networkOfSwaps: { code: 'NETWORK_NOT_FOUND', message: 'there are no swaps on this network', field: 'network' },
  webhook: { code: 'WEBHOOK_NOT_FOUND', message: 'no webhook with this id: check the id', field: 'id' },
  delivery: {
    code: 'DELIVERY_NOT_FOUND',
    message: 'this webhook has no delivery with this id',
    field: 'deliveryId',
  },
  event: {
    code: 'EVENT_NOT_FOUND',
    message:
      'Last-Event-ID is no event of yours, or events after it were deleted after 30 days: open a stream after resumeAfter, then read the statuses of your exchanges and swaps',
    field: 'Last-Event-ID',
  },
  sandboxNetwork: {
    code: 'NETWORK_NOT_FOUND',
    message: 'the sandbox does not run network "zzz"; it runs btc, eth',
  },
  sandboxCurrency: { code: 'CURRENCY_NOT_FOUND', message: 'the sandbox has no price for currency "zzz"' },
} as const satisfies Readonly<Record<string, NotFoundExample>>
