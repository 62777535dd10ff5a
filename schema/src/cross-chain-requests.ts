import Type, { type Static } from 'typebox'
import { exchangeStatuses, exchangeTypes, flows, privateTypes } from './cross-chain.ts'
import { amountInput, boundedText, chainIdInput, externalIdInput, tickerInput, wordOf } from './scalars.ts'

/** Above the longest address of any chain. Checked before a chain's own rules. */
const ADDRESS_LENGTH_MAX = 256
/** Above the longest memo of any chain; each chain's rules apply their own limit. */
const MEMO_LENGTH_MAX = 8192
/** A URL has 8 KiB. */
const MEMO_QUERY_LENGTH_MAX = 1024
const RATE_ID_LENGTH_MAX = 1024

const pair = {
  fromCurrency: tickerInput({ description: 'Source ticker, in any case, or its token contract.', examples: ['btc'] }),
  fromNetwork: tickerInput({
    description: 'Source network, in any case; common aliases and EIP-155 chain ids are accepted.',
    examples: ['btc'],
  }),
  toCurrency: tickerInput({ description: 'Target ticker.', examples: ['usdt'] }),
  toNetwork: tickerInput({ description: 'Target network.', examples: ['eth'] }),
}

const contractOf = (side: string) =>
  Type.Optional(
    boundedText(ADDRESS_LENGTH_MAX, {
      description: `Token contract of the ${side} currency: another one than ours is refused. Additive.`,
      examples: ['0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    }),
  )
const chainIdOf = (side: string) =>
  Type.Optional(
    chainIdInput({
      description: `EIP-155 chain id of the ${side} network: another one than ours is refused. Additive.`,
      examples: ['1'],
    }),
  )
/** Identities of both currencies outside of this service, which a request states to be sure. */
const identities = {
  fromContractAddress: contractOf('source'),
  fromChainId: chainIdOf('source'),
  toContractAddress: contractOf('target'),
  toChainId: chainIdOf('target'),
}

/** At most one of the two members. */
const quotedAmount = {
  amount: Type.Optional(amountInput({ description: 'Amount to exchange.', default: '1', examples: ['0.01'] })),
  toAmount: Type.Optional(
    amountInput({
      description:
        'Amount that the recipient shall get, in place of `amount`. The quote has the smallest `fromAmount` for which its `toAmount` is at least this amount. Additive.',
    }),
  ),
}

export const RateQuery = Type.Object({
  ...pair,
  ...identities,
  ...quotedAmount,
  flow: Type.Optional(
    wordOf(flows, { description: 'Floating or fixed rate.', default: 'standard', examples: ['standard'] }),
  ),
})
export type RateQuery = Static<typeof RateQuery>

const privateType = wordOf(privateTypes, {
  description:
    '`privatePlus`: through XMR, which hides the payment between the legs. `efficient`: through the fastest and cheapest network, where that payment is usually public.',
  examples: ['efficient'],
})

export const PrivateRateQuery = Type.Object({
  ...pair,
  ...identities,
  ...quotedAmount,
  privateType,
})
export type PrivateRateQuery = Static<typeof PrivateRateQuery>

const exchangeId = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, description, examples: ['0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'] })

export const StatusQuery = Type.Object({ id: exchangeId('Exchange id.') })
export type StatusQuery = Static<typeof StatusQuery>

/** Ids in one request. */
export const STATUS_IDS_MAX = 100

/** One of the two members is required. */
export const AnyStatusQuery = Type.Object({
  id: Type.Optional(exchangeId('Exchange id. Required without `ids`.')),
  ids: Type.Optional(
    Type.String({
      maxLength: 4_096,
      description: `Up to ${STATUS_IDS_MAX} exchange ids, separated by commas, in place of \`id\`: the response is \`{data: […]}\`. Every ten further ids cost as much as one request. Additive.`,
      examples: ['0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e,0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7f'],
    }),
  ),
})
export type AnyStatusQuery = Static<typeof AnyStatusQuery>

export const AddressQuery = Type.Object({
  currency: tickerInput({ description: 'Ticker of the currency to pay out.', examples: ['usdt'] }),
  network: tickerInput({ description: 'Its network.', examples: ['eth'] }),
  address: Type.String({
    minLength: 1,
    maxLength: ADDRESS_LENGTH_MAX,
    description: 'Address to check.',
    examples: ['0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'],
  }),
  memo: Type.Optional(boundedText(MEMO_QUERY_LENGTH_MAX, { description: 'Memo to check.', examples: ['12345'] })),
})
export type AddressQuery = Static<typeof AddressQuery>

/** 1-based page number; at most 9 digits, so that it fits into 32 bits. */
export const PAGE_PATTERN = '^[1-9][0-9]{0,8}$'
/** 1 to 500. */
export const LIMIT_PATTERN = '^(?:[1-9][0-9]?|[1-4][0-9]{2}|500)$'
export const LIMIT_DEFAULT = 100

/** The page of a list request. */
export const pageOfList = {
  page: Type.Optional(
    Type.String({
      pattern: PAGE_PATTERN,
      description:
        '1-based page number. Pages count from the newest item at the time of each request, so that items may repeat or be missing between pages when some are added or change meanwhile. Without `page` and `limit` all matches are returned, each once: prefer that. Additive.',
      examples: ['1'],
    }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: LIMIT_PATTERN,
      description: 'Items per page, 1 to 500; 100 if only `page` is given. Additive.',
      examples: ['100'],
    }),
  ),
}

export const ListQuery = Type.Object({
  status: Type.Optional(wordOf(exchangeStatuses, { description: 'Only this status.', examples: ['finished'] })),
  fromCurrency: Type.Optional(tickerInput({ description: 'Only this source ticker.', examples: ['btc'] })),
  fromNetwork: Type.Optional(tickerInput({ description: 'Only this source network.', examples: ['btc'] })),
  toCurrency: Type.Optional(tickerInput({ description: 'Only this target ticker.', examples: ['usdt'] })),
  toNetwork: Type.Optional(tickerInput({ description: 'Only this target network.', examples: ['eth'] })),
  exchangeType: Type.Optional(wordOf(exchangeTypes, { description: 'Only this kind.', examples: ['standard'] })),
  externalId: Type.Optional(externalIdInput({ description: 'Only exchanges with this id of yours. Additive.' })),
  ...pageOfList,
})
export type ListQuery = Static<typeof ListQuery>

const destination = {
  address: Type.Optional(
    boundedText(ADDRESS_LENGTH_MAX, {
      description: "Recipient address. Defaults to the partner's default recipient, else to the partner's balance.",
      examples: ['0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'],
    }),
  ),
  memo: Type.Optional(
    boundedText(MEMO_LENGTH_MAX, {
      description: 'Memo of the recipient; required if the currency has `requireMemo`.',
      examples: ['12345'],
    }),
  ),
  refundAddress: Type.Optional(
    boundedText(ADDRESS_LENGTH_MAX, {
      description: 'Refund address.',
      examples: ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    }),
  ),
  refundMemo: Type.Optional(
    boundedText(MEMO_LENGTH_MAX, {
      description: 'Memo of the refund address; needs `refundAddress`.',
      examples: ['12345'],
    }),
  ),
}
const externalId = Type.Optional(
  externalIdInput({
    description:
      'Your own id of the exchange, 1 to 64 printable ASCII characters. It is returned, filters lists, and need not be unique: an `Idempotency-Key` prevents a second exchange. Additive.',
    examples: ['order-1029'],
  }),
)
const fromAmount = amountInput({ description: 'Amount to exchange, as text.', examples: ['0.01'] })
/** A refund memo is useless without a refund address. */
const dependentRequired = { refundMemo: ['refundAddress'] }

export const CreateExchangeBody = Type.Object(
  {
    ...pair,
    ...identities,
    fromAmount,
    flow: wordOf(flows, { description: 'Floating (`standard`) or `fixed-rate`.', examples: ['standard'] }),
    ...destination,
    rateId: Type.Optional(
      boundedText(RATE_ID_LENGTH_MAX, {
        description: 'Reserves the quote of a rate request; required for `fixed-rate`. Valid once and for 1 minute.',
      }),
    ),
    externalId,
  },
  { dependentRequired },
)
export type CreateExchangeBody = Static<typeof CreateExchangeBody>

const privateRefundAddress = Type.Optional(
  boundedText(ADDRESS_LENGTH_MAX, {
    description:
      "Refund address. It must differ from the recipient's address: a refund there would reveal the recipient.",
    examples: ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
  }),
)

export const CreatePrivateExchangeBody = Type.Object(
  {
    ...pair,
    ...identities,
    fromAmount,
    privateType: Type.Optional(privateType),
    ...destination,
    refundAddress: privateRefundAddress,
    externalId,
  },
  { dependentRequired },
)
export type CreatePrivateExchangeBody = Static<typeof CreatePrivateExchangeBody>

export const NameRefundAddressBody = Type.Object({
  id: exchangeId('Exchange id.'),
  refundAddress: Type.String({
    minLength: 1,
    maxLength: ADDRESS_LENGTH_MAX,
    description: 'Refund address on the source network.',
    examples: ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
  }),
  refundMemo: Type.Optional(
    boundedText(MEMO_LENGTH_MAX, { description: 'Memo of the refund address.', examples: ['12345'] }),
  ),
})
export type NameRefundAddressBody = Static<typeof NameRefundAddressBody>

export const CancelExchangeBody = Type.Object({ id: exchangeId('Exchange id.') })
export type CancelExchangeBody = Static<typeof CancelExchangeBody>
