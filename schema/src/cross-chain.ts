import Type, { type Static } from 'typebox'
import {
  amountText,
  dateTime,
  dateTimeOrNull,
  externalIdOrNull,
  integerOrNull,
  objectOrNull,
  textOrNull,
  trackingUrl,
  wordOf,
  wordOrNull,
} from './scalars.ts'

export const exchangeStatuses = [
  'pending',
  'confirming',
  'verifying',
  'exchanging',
  'sending',
  'refunding',
  'finished',
  'failed',
  'refunded',
] as const
/** A deposit after `failed` may still lead to a refund. */
export const terminalExchangeStatuses = ['finished', 'failed', 'refunded'] as const
export const exchangeTypes = ['standard', 'private'] as const
export const flows = ['standard', 'fixed-rate'] as const
export const privateTypes = ['privatePlus', 'efficient'] as const
export const statusReasons = [
  'EXPIRED',
  'BELOW_MIN',
  'ABOVE_MAX',
  'OUTSIDE_TOLERANCE',
  'NO_LIQUIDITY',
  'DUST',
  'LATE_DEPOSIT',
  'WRONG_ASSET',
  'NOT_RECEIVED',
  'SCREENING',
  'PRICE_GUARD',
  'REFUND_ADDRESS_REQUIRED',
  'DEPOSIT_VANISHED',
  'REORG_AFTER_PAYOUT',
  'PAYOUT_VANISHED',
  'LIMIT',
  'OPERATOR',
  'NETWORK_UNAVAILABLE',
  'CANCELLED',
] as const

const statusNotes = {
  description: 'Overall status. `pending` is the initial value; `finished`, `failed` and `refunded` are terminal.',
  examples: ['pending'],
}
const reasonNotes = { description: 'Reason for the status, or null. Additive.', examples: [null] }

/** A currency that can be exchanged. */
export const Currency = Type.Object(
  {
    ticker: Type.String({ description: 'Currency ticker.', examples: ['usdt'] }),
    network: Type.String({ description: 'Network ticker.', examples: ['eth'] }),
    symbol: Type.String({ description: 'Currency symbol.', examples: ['USDT'] }),
    name: Type.String({ description: 'Full name.', examples: ['Tether USD'] }),
    hasMemo: Type.Boolean({ description: 'Supports a memo (extra id).', examples: [false] }),
    requireMemo: Type.Boolean({ description: 'A memo is required.', examples: [false] }),
    isFiat: Type.Boolean({ description: 'True for fiat money.', examples: [false] }),
    isStable: Type.Boolean({ description: 'True for a stablecoin.', examples: [true] }),
    supportsFixedRate: Type.Boolean({ description: 'Fixed-rate exchanges are supported.', examples: [true] }),
    enabled: Type.Boolean({ description: 'Currently available.', examples: [true] }),
    image: Type.String({ description: 'URL of the icon.', examples: ['http://127.0.0.1:8080/icons/usdt.svg'] }),
    regexAddress: Type.String({
      description: 'Regular expression for recipient addresses. Only a hint: the server also verifies checksums.',
      examples: ['^0x[0-9a-fA-F]{40}$'],
    }),
    addressExplorer: Type.String({
      description: 'Explorer URL for an address; `{}` is the placeholder.',
      examples: ['https://etherscan.io/address/{}'],
    }),
    txExplorer: Type.String({
      description: 'Explorer URL for a transaction; `{}` is the placeholder.',
      examples: ['https://etherscan.io/tx/{}'],
    }),
    confirmations: Type.Integer({
      minimum: 0,
      description: 'Required confirmations of a deposit.',
      examples: [12],
    }),
    rank: Type.Integer({ description: 'Ranking priority, for sorting in a UI.', examples: [3] }),
    decimals: Type.Integer({
      minimum: 0,
      maximum: 80,
      description: 'Decimal places; an amount may not have more. Additive.',
      examples: [6],
    }),
    contractAddress: textOrNull({
      description: 'Token contract; null for the native currency of the network. Additive.',
      examples: ['0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    }),
    chainId: integerOrNull({ description: 'EIP-155 chain id; null outside EVM networks. Additive.', examples: [1] }),
    memoName: textOrNull({
      description: 'Name of the memo on this network, for labels in a UI; null without memos. Additive.',
      examples: [null],
    }),
  },
  { description: 'A currency on one network.' },
)
export type Currency = Static<typeof Currency>
export const CurrencyList = Type.Array(Currency, { description: 'All currencies, by rank.' })

const pairFields = {
  fromCurrency: Type.String({ description: 'Source ticker.', examples: ['btc'] }),
  fromNetwork: Type.String({ description: 'Source network.', examples: ['btc'] }),
  toCurrency: Type.String({ description: 'Target ticker.', examples: ['usdt'] }),
  toNetwork: Type.String({ description: 'Target network.', examples: ['eth'] }),
  amountFromRequested: amountText({ description: 'Requested source amount.', examples: ['0.01'] }),
  amountToRequested: amountText({
    description: 'Quoted target amount: guaranteed at a fixed rate, otherwise an estimate.',
    examples: ['642.10558'],
  }),
  depositAddress: Type.String({
    description: 'Deposit address of this exchange.',
    examples: ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
  }),
}
const recipientAddress = Type.String({
  description: "Recipient address; empty if the proceeds are credited to the partner's balance.",
  examples: ['0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'],
})
const flow = wordOf(flows, { description: 'Floating (`standard`) or `fixed-rate`.', examples: ['standard'] })
const listedRequest = {
  ...pairFields,
  depositMemo: textOrNull({
    description: 'Memo that the deposit must include; null if none is required.',
    examples: [null],
  }),
  recipientAddress,
  recipientMemo: textOrNull({ description: 'Memo of the recipient.', examples: [null] }),
  refundAddress: textOrNull({ description: 'Refund address.', examples: [null] }),
  refundMemo: textOrNull({ description: 'Memo of the refund address.', examples: [null] }),
}

/** The `request` of a list item, which has no `flow`. */
export const ListedRequest = Type.Object(listedRequest, { description: 'Terms of the request.' })
/** The `request` of a status response. */
export const ExchangeRequest = Type.Object({ ...listedRequest, flow }, { description: 'Terms of the request.' })
/** The `request` of a create response. `depositMemo` is present only if the deposit needs a memo. */
export const CreatedRequest = Type.Object(
  {
    ...pairFields,
    depositMemo: Type.Optional(
      Type.String({
        description: 'Memo that the deposit MUST include. Absent if none is required. Additive.',
        examples: ['12345'],
      }),
    ),
    recipientAddress,
    flow,
  },
  { description: 'Terms of the request.' },
)

/** A refund, in the currency of the deposit, which may differ from the requested one. */
export const Refund = Type.Object(
  {
    amount: amountText({
      description: 'Refunded amount: the deposit less one network fee.',
      examples: ['0.0098'],
    }),
    currency: Type.String({ description: 'Ticker of the deposited and refunded currency.', examples: ['btc'] }),
    network: Type.String({ description: 'Network of that currency.', examples: ['btc'] }),
    address: Type.String({
      description: 'Destination: the refund address or the sender.',
      examples: ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    }),
    memo: textOrNull({ description: 'Memo of that address.', examples: [null] }),
    hash: textOrNull({ description: 'Transaction hash; null until the refund is signed.', examples: [null] }),
  },
  { description: 'A pending or completed refund.' },
)

export const confirmationFields = {
  confirmationsRequired: integerOrNull({
    description:
      'Confirmations that the deposit needs, by its value. Before a deposit: an estimate for the requested amount. Null if the network is no longer listed. Additive.',
    examples: [2],
  }),
  confirmationsSeen: Type.Integer({
    minimum: 0,
    description: 'Confirmations that the deposit has, at most `confirmationsRequired`. Additive.',
    examples: [1],
  }),
}
const expectedSeconds = (scope: string) =>
  integerOrNull({
    description: `Average time in seconds from the deposit to the payout${scope}, including confirmations and random delays. Null if a network is no longer listed. Additive.`,
    examples: [1800],
  })
export const deadlineFields = {
  expiresAt: dateTime({
    description: 'A deposit that arrives later is refunded or held. Additive.',
    examples: ['2026-01-03T03:04:05.678Z'],
  }),
  fixedUntil: dateTimeOrNull({
    description: 'A deposit must be seen by then to get the fixed rate; null at a floating rate. Additive.',
    examples: [null],
  }),
}

/** The execution of one deposit (standard) or of one leg (private). */
export const Execution = Type.Object(
  {
    amountFromReceived: textOrNull({ description: 'Received deposit amount.', examples: ['0.01'] }),
    amountToReceived: textOrNull({
      description: 'Paid amount in the target currency; null on a refund.',
      examples: ['642.10558'],
    }),
    status: wordOf(exchangeStatuses, { description: 'Status of this execution.', examples: ['finished'] }),
    payinHash: textOrNull({ description: 'Transaction hash of the deposit.' }),
    payoutHash: textOrNull({ description: 'Transaction hash of the payout or refund.' }),
    created: dateTime({ description: 'Time when the deposit was first seen.', examples: ['2026-01-02T03:04:05.678Z'] }),
    statusReason: wordOrNull(statusReasons, reasonNotes),
    refund: objectOrNull(Refund, {
      description: 'The refund once its amount is reserved, otherwise null. Additive.',
      examples: [null],
    }),
    ...confirmationFields,
    expectedSeconds: expectedSeconds(' of this leg'),
    ...deadlineFields,
  },
  { description: 'Execution record.' },
)

const recordFields = {
  id: Type.String({
    minLength: 1,
    description: 'Unique exchange identifier.',
    examples: ['0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'],
  }),
  created: dateTime({ description: 'Creation time.', examples: ['2026-01-02T03:04:05.678Z'] }),
  exchangeType: wordOf(exchangeTypes, { description: 'Kind of exchange.', examples: ['standard'] }),
  status: wordOf(exchangeStatuses, statusNotes),
}

const executions = Type.Array(Execution, {
  description: 'Execution records, oldest first; of more than 100 the latest 100.',
})

const progressFields = {
  ...deadlineFields,
  ...confirmationFields,
  expectedSeconds: expectedSeconds(''),
  externalId: externalIdOrNull,
}

/** An exchange in a status response. */
export const ExchangeRecord = Type.Object(
  {
    ...recordFields,
    statusReason: wordOrNull(statusReasons, reasonNotes),
    request: ExchangeRequest,
    exchanges: executions,
    ...progressFields,
    trackingUrl,
  },
  { description: 'Cross-chain exchange.' },
)
export type ExchangeRecord = Static<typeof ExchangeRecord>

export const ListedExchange = Type.Object(
  {
    ...recordFields,
    statusReason: wordOrNull(statusReasons, reasonNotes),
    request: ListedRequest,
    exchanges: executions,
    ...progressFields,
  },
  { description: 'Cross-chain exchange in a list.' },
)
export type ListedExchange = Static<typeof ListedExchange>

export const CreatedExchange = Type.Object(
  {
    ...recordFields,
    request: CreatedRequest,
    exchanges: Type.Array(Execution, { maxItems: 0, description: 'Empty.' }),
    ...progressFields,
    trackingUrl,
  },
  { description: 'Cross-chain exchange just created.' },
)
export type CreatedExchange = Static<typeof CreatedExchange>

/** Response of the status endpoint for all kinds of exchanges. */
export const ExchangeStatusAnswer = Type.Object(
  {
    type: wordOf(exchangeTypes, { description: 'Kind of exchange.', examples: ['standard'] }),
    exchange: ExchangeRecord,
  },
  { description: 'Kind and exchange.' },
)
export type ExchangeStatusAnswer = Static<typeof ExchangeStatusAnswer>

/** Response of the status endpoint for several ids. */
export const ExchangeStatusList = Type.Object(
  {
    data: Type.Array(ExchangeStatusAnswer, {
      description: 'In the order of `ids`. Ids that are unknown, or of another partner, are absent.',
    }),
  },
  { description: 'Kinds and exchanges.' },
)
export type ExchangeStatusList = Static<typeof ExchangeStatusList>

export const ExchangeList = Type.Object(
  {
    total: Type.Integer({ minimum: 0, description: 'Number of matches in the last 24 hours.', examples: [1] }),
    data: Type.Array(ListedExchange, { description: 'Newest first.' }),
  },
  { description: 'Exchanges of the last 24 hours.' },
)
export type ExchangeList = Static<typeof ExchangeList>
