import Type, { type Static } from 'typebox'
import { flows, ListedExchange } from './cross-chain.ts'
import { LIMIT_PATTERN } from './cross-chain-requests.ts'
import { amountText, dateTimeOrNull, integerOrNull, textOrNull, tickerInput, wordOf } from './scalars.ts'

export const answerFormats = ['json', 'csv'] as const
const format = Type.Optional(
  wordOf(answerFormats, {
    description: '`csv` returns the same rows as CSV (RFC 4180), as `Accept: text/csv` does.',
    default: 'json',
    examples: ['json'],
  }),
)

/** A day, or a time in UTC: milliseconds, after which only zeros may follow, down to a nanosecond. */
export const TIME_PATTERN = '^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,3}0{0,6})?Z)?$'
/** `nextPage` of a report. */
export const REPORT_PAGE_PATTERN = '^[A-Za-z0-9_-]{1,64}$'
export const DAY_PATTERN = '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
const day = (description: string, example: string) =>
  Type.String({ pattern: DAY_PATTERN, description, examples: [example] })
const time = (description: string, example: string) =>
  Type.String({ pattern: TIME_PATTERN, description, examples: [example] })

const currency = Type.String({
  description: 'Ticker; of fees of swaps the address of the token.',
  examples: ['usdt'],
})
const network = Type.String({ description: 'Its network.', examples: ['eth'] })

export const PartnerBalance = Type.Object(
  { currency, network, amount: amountText({ description: 'What we owe you.', examples: ['120.5'] }) },
  { description: 'A balance.' },
)
export const MonthlyPayoutSetting = Type.Object(
  {
    currency,
    network,
    minimum: amountText({ description: 'A smaller balance is not paid out.', examples: ['50'] }),
    address: Type.String({
      description: 'Your recipient, as you and the operator have verified it.',
      examples: ['0x52908400098527886E0F7030069857D2E4169EE7'],
    }),
    memo: textOrNull({ description: 'Its memo, on networks that have one.', examples: [null] }),
    convertsOthers: Type.Boolean({
      description: 'Before, your balances in currencies without a payout of their own are converted into this one.',
      examples: [true],
    }),
  },
  { description: 'We pay the whole balance in this currency once a month (UTC).' },
)
export const PartnerBalances = Type.Object(
  {
    data: Type.Array(PartnerBalance, { description: 'Balances above zero.' }),
    monthlyPayouts: Type.Array(MonthlyPayoutSetting, { description: 'Currencies that we pay out every month.' }),
  },
  { description: 'Balances of the partner by currency.' },
)
export type PartnerBalances = Static<typeof PartnerBalances>
export const PartnerBalancesQuery = Type.Object({ format })

export const movementKinds = ['exchangeFee', 'swapFee', 'proceeds', 'converted', 'paidOut', 'other'] as const
export const PartnerMovement = Type.Object(
  {
    date: Type.String({ description: 'Day, in UTC.', examples: ['2026-11-26'] }),
    currency,
    network,
    kind: wordOf(movementKinds, {
      description:
        '`exchangeFee` and `swapFee`: your fees; `proceeds`: of exchanges without a recipient; `converted`: into the currency of your monthly payout; `paidOut`: what we sent to you.',
      examples: ['exchangeFee'],
    }),
    credited: amountText({ description: 'Added to the balance on this day.', examples: ['3.21'] }),
    debited: amountText({ description: 'Taken from it: paid out, or reversed.', examples: ['0'] }),
    count: Type.Integer({ minimum: 0, description: 'Number of bookings.', examples: [12] }),
  },
  { description: 'Bookings of one kind and currency on one day.' },
)
export type PartnerMovement = Static<typeof PartnerMovement>
export const PartnerFees = Type.Object(
  {
    from: Type.String({ description: 'First day.', examples: ['2026-11-01'] }),
    to: Type.String({ description: 'Last day.', examples: ['2026-11-30'] }),
    data: Type.Array(PartnerMovement, { description: 'By day, currency and kind.' }),
  },
  { description: 'Statement of fees, proceeds and payments.' },
)
export type PartnerFees = Static<typeof PartnerFees>
export const PartnerFeesQuery = Type.Object({
  from: day('First day, in UTC.', '2026-11-01'),
  to: day('Last day, in UTC; at most 366 days after the first.', '2026-11-30'),
  format,
})
export type PartnerFeesQuery = Static<typeof PartnerFeesQuery>

export const PartnerUsage = Type.Object(
  {
    keyId: Type.String({ description: 'Public part of the API key of this request.', examples: ['3fZk81Qa'] }),
    scopes: Type.Array(Type.String({ examples: ['exchange:read'] }), { description: 'Scopes of this key.' }),
    requestsPerMinute: Type.Integer({
      minimum: 1,
      description: 'Weight that all keys of the partner may use in a minute.',
      examples: [6000],
    }),
    requestsLeft: integerOrNull({
      description: 'What is left of it in this minute; null if requests are not limited.',
      examples: [5990],
    }),
    resetSeconds: integerOrNull({
      description: 'Seconds until it is full again; null without a limit.',
      examples: [42],
    }),
    openExchanges: Type.Integer({
      minimum: 0,
      description:
        'Exchanges that are not finished, failed (cancelled too) or refunded; a pending one until it expires.',
      examples: [3],
    }),
    openExchangesMax: Type.Integer({ minimum: 1, description: 'Their maximum.', examples: [10000] }),
    feePercent: Type.String({ description: 'Your fee of new exchanges, in percent.', examples: ['0.5'] }),
    strict: Type.Boolean({ description: 'Unknown members of requests are refused.', examples: [false] }),
  },
  { description: 'Limits of the partner and their use.' },
)
export type PartnerUsage = Static<typeof PartnerUsage>

export const AssetIdentity = Type.Object(
  {
    contractAddress: textOrNull({ description: 'Token contract; null for a native currency.', examples: [null] }),
    chainId: integerOrNull({ description: 'EIP-155 chain id; null outside EVM networks.', examples: [1] }),
  },
  { description: 'Identity of a currency outside of this service.' },
)
const token = (side: string) =>
  Type.Object(AssetIdentity.properties, { description: `Identity of the ${side} currency outside of this service.` })
export const ReportedExchange = Type.Object(
  {
    ...ListedExchange.properties,
    fromToken: token('source'),
    toToken: token('target'),
    completedDate: dateTimeOrNull({
      description:
        'Time when the status became terminal; null while it is not. A deposit after a failure can change it: the exchange is open again until the refund.',
      examples: ['2026-01-02T03:14:05.678Z'],
    }),
  },
  { description: 'An exchange of the report.' },
)
export type ReportedExchange = Static<typeof ReportedExchange>
export const ExchangeReport = Type.Object(
  {
    data: Type.Array(ReportedExchange, { description: 'Oldest first.' }),
    nextPage: textOrNull({ description: 'Value of `page` for the next page; null on the last one.', examples: [null] }),
  },
  { description: 'One page of all exchanges of a period.' },
)
export type ExchangeReport = Static<typeof ExchangeReport>
export const ExchangeReportQuery = Type.Object({
  from: Type.Optional(time('Created at or after this day or time, in UTC. Default: the first exchange.', '2026-11-01')),
  to: Type.Optional(time('Created before this day or time, in UTC. Default: now.', '2026-12-01T00:00:00Z')),
  page: Type.Optional(
    Type.String({
      pattern: REPORT_PAGE_PATTERN,
      description: '`nextPage` of the previous page. Default: the first page.',
      examples: ['AZjFonwee3qfDS9vHAqbfg'],
    }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: LIMIT_PATTERN,
      description: 'Exchanges per page, 1 to 500.',
      default: '100',
      examples: ['100'],
    }),
  ),
  format,
})
export type ExchangeReportQuery = Static<typeof ExchangeReportQuery>

export const CurrencyPair = Type.Object(
  {
    fromCurrency: Type.String({ description: 'Source ticker.', examples: ['btc'] }),
    fromNetwork: Type.String({ description: 'Source network.', examples: ['btc'] }),
    toCurrency: Type.String({ description: 'Target ticker.', examples: ['usdt'] }),
    toNetwork: Type.String({ description: 'Target network.', examples: ['eth'] }),
    flows: Type.Array(wordOf(flows, { description: 'A flow.', examples: ['standard'] }), {
      description: 'Flows that are available now.',
    }),
    min: amountText({ description: 'Minimum of a floating rate.', examples: ['0.0004'] }),
    max: textOrNull({
      description:
        'Maximum of a floating rate, from a reserve that is rounded down to two digits; null means no limit.',
      examples: ['2.8'],
    }),
  },
  { description: 'A direction that can be exchanged now.' },
)
export const CurrencyPairs = Type.Array(CurrencyPair, { description: 'All directions that can be exchanged now.' })
export type CurrencyPairs = Static<typeof CurrencyPairs>
export const PairsQuery = Type.Object({
  fromCurrency: Type.Optional(tickerInput({ description: 'Only this source ticker.', examples: ['btc'] })),
  fromNetwork: Type.Optional(tickerInput({ description: 'Only this source network.', examples: ['btc'] })),
  toCurrency: Type.Optional(tickerInput({ description: 'Only this target ticker.', examples: ['usdt'] })),
  toNetwork: Type.Optional(tickerInput({ description: 'Only this target network.', examples: ['eth'] })),
})
export type PairsQuery = Static<typeof PairsQuery>
