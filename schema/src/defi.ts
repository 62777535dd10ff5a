import Type, { type Static } from 'typebox'
import { amountText, dateTime, externalIdOrNull, integerOrNull, textOrNull, wordOf, wordOrNull } from './scalars.ts'

/** Networks of the DeFi API, with the names of the specification. */
export const defiNetworks = [
  'eth',
  'sol',
  'sui',
  'sei',
  'arbitrum',
  'base',
  'bsc',
  'cchain',
  'celo',
  'linea',
  'matic',
  'op',
  'sonic',
  'uni',
] as const
export const swapStatuses = ['pending', 'confirming', 'finished', 'failed'] as const
export const terminalSwapStatuses = ['finished', 'failed'] as const
/**
 * Why a swap failed: nodes rejected it, it reverted, no node has it any more, another transaction used its nonce, or it expired
 * before it was in a block.
 */
export const swapReasons = ['rejected', 'reverted', 'dropped', 'replaced', 'expired'] as const

const hash = '0x9f2c4b1d0e6a78353c2f8e7d6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b'
const address = (description: string) =>
  Type.String({ description, examples: ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'] })
const rawAmount = (description: string) =>
  Type.String({
    pattern: '^(?:0|[1-9][0-9]*)$',
    description: `${description}, in base units. Additive.`,
    examples: ['1500000'],
  })

/** A token that can be swapped. */
export const DefiCurrency = Type.Object(
  {
    name: Type.String({ description: 'Full token name.', examples: ['USD Coin'] }),
    address: address('Token contract; the native coin has the placeholder address.'),
    decimals: Type.Integer({ minimum: 0, maximum: 255, description: 'Decimal places.', examples: [6] }),
    symbol: Type.String({ description: 'Token symbol.', examples: ['USDC'] }),
    network: wordOf(defiNetworks, { description: 'Network ticker.', examples: ['eth'] }),
    enabled: Type.Boolean({ description: 'Currently available for swaps.', examples: [true] }),
    image: Type.String({ description: 'URL of the icon.', examples: ['http://127.0.0.1:8080/icons/usdc.svg'] }),
  },
  { description: 'A token of one network.' },
)
export type DefiCurrency = Static<typeof DefiCurrency>
export const DefiCurrencyList = Type.Array(DefiCurrency, { description: 'A page of tokens.' })

/** A network of the specification, served by this server or not. */
export const DefiNetwork = Type.Object(
  {
    network: wordOf(defiNetworks, { description: 'Network ticker.', examples: ['eth'] }),
    chainId: integerOrNull({ description: 'EIP-155 chain id; null outside EVM networks.', examples: [1] }),
    enabled: Type.Boolean({
      description: 'Swaps can be quoted and built now; false if the network is paused or not served.',
      examples: [true],
    }),
  },
  { description: 'A network of the DeFi part. Additive.' },
)
export type DefiNetwork = Static<typeof DefiNetwork>
export const DefiNetworkList = Type.Array(DefiNetwork, { description: 'All networks of the specification.' })

const percent = (description: string) => Type.Number({ minimum: 0, maximum: 100, description, examples: [100] })

export const DexPart = Type.Object(
  {
    name: Type.String({ description: 'DEX.', examples: ['uniswap-v3'] }),
    address: address('DEX contract.'),
    fee: Type.Number({ description: 'Fee of the DEX, percent.', examples: [0.05] }),
    percentage: percent('Percentage of the step through this DEX; the percentages of a step add up to 100.'),
  },
  { description: 'A DEX and its share of a step.' },
)
export type DexPart = Static<typeof DexPart>

export const SubRoute = Type.Object(
  { from: address('Source token of the step.'), to: address('Target token of the step.'), dexes: Type.Array(DexPart) },
  { description: 'A step of a route.' },
)
export type SubRoute = Static<typeof SubRoute>

export const SwapRoute = Type.Object(
  {
    percentage: percent('Percentage of the swap through this route; the percentages of all routes add up to 100.'),
    subRoutes: Type.Array(SubRoute),
  },
  { description: 'A share of the swap and its steps.' },
)
export type SwapRoute = Static<typeof SwapRoute>

export const AggregatorQuote = Type.Object(
  {
    source: Type.String({ description: 'Name of the aggregator.', examples: ['kyberswap'] }),
    toAmount: amountText({ description: 'Quoted amount before fees.', examples: ['1498.9'] }),
  },
  { description: 'A quote of an aggregator. Additive.' },
)

/** An intermediate token that a swap leaves. */
export const SwapRemainder = Type.Object(
  {
    address: Type.String({ description: 'Token address.', examples: ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'] }),
    amount: amountText({ description: 'Expected amount.', examples: ['4.98'] }),
    amountRaw: rawAmount('`amount`'),
  },
  { description: 'An intermediate token that remains with the user. Additive.' },
)

/** A swap quote. */
export const SwapQuote = Type.Object(
  {
    fromAmount: amountText({ description: 'Amount to swap.', examples: ['1.5'] }),
    usdFromAmount: Type.String({
      description: 'Value of `fromAmount` in US dollars; empty if the price is unknown.',
      examples: ['1500.00'],
    }),
    toAmount: amountText({ description: 'Estimated amount to receive, before fees.', examples: ['1499.2'] }),
    usdToAmount: Type.String({
      description: 'Value of `toAmount` in US dollars; empty if the price is unknown.',
      examples: ['1499.20'],
    }),
    receivedAmount: amountText({ description: 'Amount that the user receives after fees.', examples: ['1497.7'] }),
    fee: amountText({ description: 'All fees, in the target token.', examples: ['1.5'] }),
    routes: Type.Array(SwapRoute, { description: 'How the amount is split.' }),
    priceImpact: Type.String({
      description:
        'Price impact against the middle price, in percent; positive is worse. Empty if the pools have no middle price.',
      examples: ['0.12'],
    }),
    fromAmountRaw: rawAmount('`fromAmount`'),
    toAmountRaw: rawAmount('`toAmount`'),
    receivedAmountRaw: rawAmount('`receivedAmount`'),
    minReceived: amountText({
      description: 'Minimum received amount; the swap reverts below it. Additive.',
      examples: ['1490.2'],
    }),
    alternatives: Type.Optional(
      Type.Array(AggregatorQuote, {
        description:
          'Current aggregator quotes, best first, if the operator uses aggregators. `routes` names the source of this quote. Additive.',
      }),
    ),
    remainders: Type.Optional(
      Type.Array(SwapRemainder, {
        description:
          "What the swap is expected to leave of intermediate tokens in the user's account, on networks whose transactions state the amount of each swap (Solana). Not part of `toAmount`. Additive.",
      }),
    ),
    block: Type.Integer({
      minimum: 0,
      description: 'Block whose state the quote uses. Additive.',
      examples: [23000000],
    }),
    expiresAt: dateTime({ description: 'Expiry of the quote. Additive.', examples: ['2026-11-21T12:00:30.000Z'] }),
  },
  { description: 'Swap quote.' },
)
export type SwapQuote = Static<typeof SwapQuote>

/** A swap that a partner sent. */
export const DexExchange = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier.', examples: ['0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'] }),
    created: dateTime({ description: 'Creation time.', examples: ['2026-11-21T12:00:00.000Z'] }),
    updated: dateTime({ description: 'Time of the last update.', examples: ['2026-11-21T12:00:10.000Z'] }),
    network: wordOf(defiNetworks, { description: 'Network ticker.', examples: ['eth'] }),
    fromTokenAddress: address('Source token.'),
    toTokenAddress: address('Target token.'),
    amountFrom: amountText({ description: 'Amount sent.', examples: ['1.5'] }),
    amountTo: amountText({
      description: 'Received amount; the expected amount until the receipt is known.',
      examples: ['1497.7'],
    }),
    addressFrom: Type.String({ description: 'Sender.', examples: ['0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'] }),
    addressTo: textOrNull({ description: 'Recipient.', examples: ['0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'] }),
    commissionPercentage: Type.String({ description: 'Commission, percent.', examples: ['0.3'] }),
    status: wordOf(swapStatuses, {
      description: 'Status; `finished` and `failed` are terminal.',
      examples: ['pending'],
    }),
    hash: Type.String({ description: 'Transaction hash.', examples: [hash] }),
    statusReason: wordOrNull(swapReasons, { description: 'Why the swap failed. Additive.', examples: ['reverted'] }),
    externalId: externalIdOrNull,
  },
  { description: 'A swap on chain.' },
)
export type DexExchange = Static<typeof DexExchange>

export const DexExchangeList = Type.Object(
  {
    total: Type.Integer({ minimum: 0, description: 'Number of matches.', examples: [1] }),
    exchanges: Type.Array(DexExchange, { description: 'Newest first.' }),
  },
  { description: 'Swaps of the last 24 hours.' },
)
export type DexExchangeList = Static<typeof DexExchangeList>

/** Raw transactions of a swap: the swap, or the approval and then the swap. */
export const RawTransactions = Type.Array(Type.String({ examples: ['0x02f8b1'] }), {
  minItems: 1,
  maxItems: 2,
  description:
    'Unsigned transactions to sign and send in this order. Networks without approvals have one: an EVM transaction is hexadecimal, others are base64.',
})

export const TransactionHash = Type.String({ description: 'Hash of the transaction.', examples: [hash] })
