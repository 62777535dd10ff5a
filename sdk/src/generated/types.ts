// Written by sdk/generate.ts from the schemas of the API. Do not edit.
/**
 * Format of an answer.
 */
export type AnswerFormat = 'json' | 'csv'
/**
 * Network of the DeFi part.
 */
export type DefiNetworkTicker =
  | 'eth'
  | 'sol'
  | 'sui'
  | 'sei'
  | 'arbitrum'
  | 'base'
  | 'bsc'
  | 'cchain'
  | 'celo'
  | 'linea'
  | 'matic'
  | 'op'
  | 'sonic'
  | 'uni'
/**
 * State of a delivery.
 */
export type DeliveryState = 'pending' | 'delivered'
/**
 * Who disabled a webhook.
 */
export type DisabledBy = 'partner' | 'operator' | 'failures'
/**
 * What a webhook can subscribe to.
 */
export type EventType =
  | 'exchange.pending'
  | 'exchange.confirming'
  | 'exchange.exchanging'
  | 'exchange.sending'
  | 'exchange.verifying'
  | 'exchange.refunding'
  | 'exchange.refunded'
  | 'exchange.finished'
  | 'exchange.failed'
  | 'exchange.refund_address_required'
  | 'swap.pending'
  | 'swap.confirming'
  | 'swap.finished'
  | 'swap.failed'
  | 'partner.fee_address_changed'
/**
 * Stable code of a failure.
 */
export type ErrorCode =
  | 'ADDRESS_IS_OURS'
  | 'ALLOWANCE_RESET_REQUIRED'
  | 'AMOUNT_ABOVE_MAX'
  | 'AMOUNT_BELOW_MIN'
  | 'AMOUNT_MALFORMED'
  | 'AMOUNT_PRECISION'
  | 'API_KEY_INVALID'
  | 'API_KEY_MISSING'
  | 'APPROVAL_NOT_NEEDED'
  | 'BODY_TOO_LARGE'
  | 'CURRENCY_NOT_FOUND'
  | 'DELIVERY_NOT_FOUND'
  | 'EMAIL_REQUIRED'
  | 'EVENT_NOT_FOUND'
  | 'EXCHANGE_NOT_FOUND'
  | 'EXCHANGE_NOT_PENDING'
  | 'FIXED_RATE_UNSUPPORTED'
  | 'HEADERS_TOO_LARGE'
  | 'IDEMPOTENCY_CONFLICT'
  | 'INSUFFICIENT_BALANCE'
  | 'INSUFFICIENT_LIQUIDITY'
  | 'INTERNAL'
  | 'INVALID_ADDRESS'
  | 'INVALID_REFUND_ADDRESS'
  | 'IP_NOT_ALLOWED'
  | 'MEMO_INVALID'
  | 'MEMO_NOT_SUPPORTED'
  | 'MEMO_REQUIRED'
  | 'METHOD_NOT_ALLOWED'
  | 'NETWORK_NOT_FOUND'
  | 'NETWORK_NOT_SERVED'
  | 'NETWORK_PAUSED'
  | 'NETWORK_UNAVAILABLE'
  | 'NONCE_CONFLICT'
  | 'NO_ROUTE'
  | 'ORIGIN_NOT_ALLOWED'
  | 'OVERLOADED'
  | 'PAIR_UNAVAILABLE'
  | 'PARTNER_SUSPENDED'
  | 'PRICE_IMPACT_TOO_HIGH'
  | 'RATES_UNAVAILABLE'
  | 'RATE_ID_EXPIRED'
  | 'RATE_ID_INVALID'
  | 'RATE_ID_MISMATCH'
  | 'RATE_ID_REQUIRED'
  | 'RATE_ID_USED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RAW_TX_INVALID'
  | 'REFERRER_FEE_OUT_OF_RANGE'
  | 'REFUND_ADDRESS_SET'
  | 'REQUEST_TIMEOUT'
  | 'RESTRICTED'
  | 'ROUTE_NOT_FOUND'
  | 'SAME_CURRENCY'
  | 'SCOPE_REQUIRED'
  | 'SIMULATION_FAILED'
  | 'SLIPPAGE_OUT_OF_RANGE'
  | 'TOKEN_NOT_FOUND'
  | 'TX_CHAIN_MISMATCH'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_ERROR'
  | 'WEBHOOK_DISABLED'
  | 'WEBHOOK_LIMIT_REACHED'
  | 'WEBHOOK_NOT_FOUND'
  | 'WEBHOOK_SECRET_ROTATED'
  | 'WEBHOOK_URL_REFUSED'
/**
 * Events of exchanges.
 */
export type ExchangeEventType =
  | 'exchange.pending'
  | 'exchange.confirming'
  | 'exchange.exchanging'
  | 'exchange.sending'
  | 'exchange.verifying'
  | 'exchange.refunding'
  | 'exchange.refunded'
  | 'exchange.finished'
  | 'exchange.failed'
  | 'exchange.refund_address_required'
/**
 * Status of an exchange or of an execution.
 */
export type ExchangeStatus =
  'pending' | 'confirming' | 'verifying' | 'exchanging' | 'sending' | 'refunding' | 'finished' | 'failed' | 'refunded'
/**
 * Kind of exchange.
 */
export type ExchangeType = 'standard' | 'private'
/**
 * Floating (`standard`) or fixed rate.
 */
export type Flow = 'standard' | 'fixed-rate'
/**
 * What moved a balance.
 */
export type MovementKind = 'exchangeFee' | 'swapFee' | 'proceeds' | 'converted' | 'paidOut' | 'other'
/**
 * How the intermediary of a private exchange is chosen.
 */
export type PrivateType = 'privatePlus' | 'efficient'
/**
 * Reason for a status.
 */
export type StatusReason =
  | 'EXPIRED'
  | 'BELOW_MIN'
  | 'ABOVE_MAX'
  | 'OUTSIDE_TOLERANCE'
  | 'NO_LIQUIDITY'
  | 'DUST'
  | 'LATE_DEPOSIT'
  | 'WRONG_ASSET'
  | 'NOT_RECEIVED'
  | 'SCREENING'
  | 'PRICE_GUARD'
  | 'REFUND_ADDRESS_REQUIRED'
  | 'DEPOSIT_VANISHED'
  | 'REORG_AFTER_PAYOUT'
  | 'PAYOUT_VANISHED'
  | 'LIMIT'
  | 'OPERATOR'
  | 'NETWORK_UNAVAILABLE'
  | 'CANCELLED'
/**
 * Events of swaps.
 */
export type SwapEventType = 'swap.pending' | 'swap.confirming' | 'swap.finished' | 'swap.failed'
/**
 * Why a swap failed.
 */
export type SwapReason = 'rejected' | 'reverted' | 'dropped' | 'replaced' | 'expired'
/**
 * Status of a swap.
 */
export type SwapStatus = 'pending' | 'confirming' | 'finished' | 'failed'
/**
 * All currencies, by rank.
 */
export type CurrencyList = Currency[]
/**
 * All directions that can be exchanged now.
 */
export type CurrencyPairs = CurrencyPair[]
/**
 * A page of tokens.
 */
export type DefiCurrencyList = DefiCurrency[]
/**
 * All networks of the specification.
 */
export type DefiNetworkList = DefiNetwork[]
/**
 * Unsigned transactions to sign and send in this order. Networks without approvals have one: an EVM transaction is hexadecimal, others are base64.
 *
 * @minItems 1
 * @maxItems 2
 */
export type RawTransactions = string[]
/**
 * Hash of the transaction.
 */
export type TransactionHash = string
/**
 * All local chains.
 */
export type SandboxNetworks = SandboxNetwork[]

/**
 * Result of an address validation. Additive.
 */
export interface AddressValidation {
  /**
   * Whether a create accepts this address and memo.
   */
  valid: boolean
  /**
   * The address in its canonical form; null if it is not valid.
   */
  address: string | null
  /**
   * The memo in its canonical form; null without a memo or if it is not valid.
   */
  memo: string | null
  /**
   * All problems; empty if `valid`.
   */
  errors: Problem[]
}
/**
 * One problem of a request.
 */
export interface Problem {
  /**
   * Stable code of this problem.
   */
  code: ErrorCode
  /**
   * Name of the parameter or body field.
   */
  field?: string
  /**
   * One sentence for the developer.
   */
  message?: string
  /**
   * Lower limit, as text.
   */
  min?: string
  /**
   * Upper limit, as text.
   */
  max?: string
  /**
   * Ticker of the limits.
   */
  currency?: string
  /**
   * Network of the limits or of the failure.
   */
  network?: string
  /**
   * What the lower limit gives, as text.
   */
  minTo?: string
  /**
   * What the upper limit gives, as text.
   */
  maxTo?: string
  /**
   * Ticker of `minTo` and `maxTo`.
   */
  toCurrency?: string
  /**
   * Network of `minTo` and `maxTo`.
   */
  toNetwork?: string
  /**
   * Limit that was reached, as text.
   */
  limit?: string
  /**
   * Values that are accepted.
   */
  allowed?: string[]
  /**
   * Required balance, as text.
   */
  required?: string
  /**
   * Available balance, as text.
   */
  available?: string
  /**
   * Rate quote.
   */
  requote?: RateQuote
  /**
   * Raw transaction to sign and send first.
   */
  rawTx?: string
  /**
   * Why the chain would revert the transaction.
   */
  reason?: string
  /**
   * Price impact in percent, as text.
   */
  priceImpact?: string
  /**
   * Scope that the key lacks.
   */
  scope?: string
  /**
   * Last-Event-ID of a stream that begins with the oldest event that is kept.
   */
  resumeAfter?: string
  /**
   * Time from which the request is possible.
   */
  possibleFrom?: string
  [k: string]: unknown
}
/**
 * Rate quote.
 */
export interface RateQuote {
  /**
   * Minimum allowed amount.
   */
  min: number
  /**
   * Maximum allowed amount, from a reserve that is rounded down to two digits; null means no limit.
   */
  max: number | null
  /**
   * Requested amount.
   */
  fromAmount: number
  /**
   * Estimated amount that the recipient gets, net of all fees.
   */
  toAmount: number
  /**
   * Source ticker.
   */
  fromCurrency: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Source network.
   */
  fromNetwork: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * USD equivalent of the source amount.
   */
  amountFromUsd: string
  /**
   * USD equivalent of the target amount.
   */
  amountToUsd: string
  /**
   * Reserves this quote for one create within 60 seconds. Null if the amount is outside `min` and `max`. Additive.
   */
  rateId: string | null
  /**
   * Expiry of `rateId`; null without one. Additive.
   */
  validUntil: string | null
  fees: QuoteFees
  /**
   * What `min` gives: the `toAmount` of its quote. Additive.
   */
  minTo: number
  /**
   * What `max` gives: the `toAmount` of its quote; null means no limit. Additive.
   */
  maxTo: number | null
}
/**
 * All fees, in the target currency: `service`, `partner` and `network`. Additive.
 */
export interface QuoteFees {
  /**
   * Our fee.
   */
  service: string
  /**
   * The partner's fee.
   */
  partner: string
  /**
   * Network costs of the payout and of the deposit.
   */
  network: string
  /**
   * The part of `network` that a refund costs, too.
   */
  payout: string
}
/**
 * A quote of an aggregator. Additive.
 */
export interface AggregatorQuote {
  /**
   * Name of the aggregator.
   */
  source: string
  /**
   * Quoted amount before fees.
   */
  toAmount: string
}
/**
 * Identity of a currency outside of this service.
 */
export interface AssetIdentity {
  /**
   * Token contract; null for a native currency.
   */
  contractAddress: string | null
  /**
   * EIP-155 chain id; null outside EVM networks.
   */
  chainId: number | null
}
export interface BuildSwapBody {
  /**
   * Sender, who signs the transactions.
   */
  account: string
  /**
   * Token to swap; the placeholder address for the native coin.
   */
  fromTokenAddress: string
  /**
   * Token to receive.
   */
  toTokenAddress: string
  /**
   * Amount to swap. Text, or a JSON number of at most 15 significant digits.
   */
  amount: string
  /**
   * Maximum accepted slippage below the quote, in percent, 0.01 to 50.
   */
  slippage: string
  /**
   * The partner's fee in percent of the output, 0 to 5.
   */
  referrerFee: string
  /**
   * Highest accepted loss in percent, 0 to 100, against the pools' middle price and against reference prices. Without it the operator's limits apply (15 and 10 by default). Additive.
   */
  maxPriceImpact?: string | number | null
  /**
   * Network ticker: `eth`, `sol`, `sui`, `sei`, `arbitrum`, `base`, `bsc`, `cchain`, `celo`, `linea`, `matic`, `op`, `sonic`, `uni`; in any case. Common aliases are accepted.
   */
  network: DefiNetworkTicker | (string & {})
  /**
   * Who receives the output; the sender by default. Not a token of the swap, the wrapped coin or a contract of the service. On `sol` only the sender can. Additive.
   */
  recipient?: string | null
  /**
   * Form of the answer: unsigned transactions. Additive.
   */
  format?: 'raw' | null
  /**
   * Your own id of the swap, 1 to 64 printable ASCII characters. The swap has it once it was sent, within 30 days and unless `/v1/defi/send/swap` names another one. Additive.
   */
  externalId?: string | null
}
export interface CancelExchangeBody {
  /**
   * Exchange id.
   */
  id: string
}
/**
 * A cancelled exchange.
 */
export interface CancelledExchange {
  /**
   * Exchange id.
   */
  id: string
  /**
   * Always `failed`.
   */
  status: ExchangeStatus
  /**
   * Always `CANCELLED`.
   */
  statusReason: StatusReason
}
export interface CreateExchangeBody {
  /**
   * Source ticker, in any case, or its token contract.
   */
  fromCurrency: string
  /**
   * Source network, in any case; common aliases and EIP-155 chain ids are accepted.
   */
  fromNetwork: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * Token contract of the source currency: another one than ours is refused. Additive.
   */
  fromContractAddress?: string | null
  /**
   * EIP-155 chain id of the source network: another one than ours is refused. Additive.
   */
  fromChainId?: string | null
  /**
   * Token contract of the target currency: another one than ours is refused. Additive.
   */
  toContractAddress?: string | null
  /**
   * EIP-155 chain id of the target network: another one than ours is refused. Additive.
   */
  toChainId?: string | null
  /**
   * Amount to exchange, as text.
   */
  fromAmount: string
  /**
   * Floating (`standard`) or `fixed-rate`.
   */
  flow: Flow
  /**
   * Recipient address. Defaults to the partner's default recipient, else to the partner's balance.
   */
  address?: string | null
  /**
   * Memo of the recipient; required if the currency has `requireMemo`.
   */
  memo?: string | null
  /**
   * Refund address.
   */
  refundAddress?: string | null
  /**
   * Memo of the refund address; needs `refundAddress`.
   */
  refundMemo?: string | null
  /**
   * Reserves the quote of a rate request; required for `fixed-rate`. Valid once and for 1 minute.
   */
  rateId?: string | null
  /**
   * Your own id of the exchange, 1 to 64 printable ASCII characters. It is returned, filters lists, and need not be unique: an `Idempotency-Key` prevents a second exchange. Additive.
   */
  externalId?: string | null
}
export interface CreatePrivateExchangeBody {
  /**
   * Source ticker, in any case, or its token contract.
   */
  fromCurrency: string
  /**
   * Source network, in any case; common aliases and EIP-155 chain ids are accepted.
   */
  fromNetwork: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * Token contract of the source currency: another one than ours is refused. Additive.
   */
  fromContractAddress?: string | null
  /**
   * EIP-155 chain id of the source network: another one than ours is refused. Additive.
   */
  fromChainId?: string | null
  /**
   * Token contract of the target currency: another one than ours is refused. Additive.
   */
  toContractAddress?: string | null
  /**
   * EIP-155 chain id of the target network: another one than ours is refused. Additive.
   */
  toChainId?: string | null
  /**
   * Amount to exchange, as text.
   */
  fromAmount: string
  /**
   * `privatePlus`: through XMR, which hides the payment between the legs. `efficient`: through the fastest and cheapest network, where that payment is usually public.
   */
  privateType?: PrivateType | null
  /**
   * Recipient address. Defaults to the partner's default recipient, else to the partner's balance.
   */
  address?: string | null
  /**
   * Memo of the recipient; required if the currency has `requireMemo`.
   */
  memo?: string | null
  /**
   * Refund address. It must differ from the recipient's address: a refund there would reveal the recipient.
   */
  refundAddress?: string | null
  /**
   * Memo of the refund address; needs `refundAddress`.
   */
  refundMemo?: string | null
  /**
   * Your own id of the exchange, 1 to 64 printable ASCII characters. It is returned, filters lists, and need not be unique: an `Idempotency-Key` prevents a second exchange. Additive.
   */
  externalId?: string | null
}
/**
 * A webhook to create.
 */
export interface CreateWebhookBody {
  /**
   * Where events are sent: `https`, without credentials, at a public address.
   */
  url: string
  /**
   * Event types to send. Absent or empty: all, those of later versions too.
   *
   * @maxItems 15
   */
  events?: EventType[] | null
}
/**
 * Cross-chain exchange just created.
 */
export interface CreatedExchange {
  /**
   * Unique exchange identifier.
   */
  id: string
  /**
   * Creation time.
   */
  created: string
  /**
   * Kind of exchange.
   */
  exchangeType: ExchangeType
  /**
   * Overall status. `pending` is the initial value; `finished`, `failed` and `refunded` are terminal.
   */
  status: ExchangeStatus
  request: CreatedRequest
  /**
   * Empty.
   *
   * @maxItems 0
   */
  exchanges: Execution[]
  /**
   * A deposit that arrives later is refunded or held. Additive.
   */
  expiresAt: string
  /**
   * A deposit must be seen by then to get the fixed rate; null at a floating rate. Additive.
   */
  fixedUntil: string | null
  /**
   * Confirmations that the deposit needs, by its value. Before a deposit: an estimate for the requested amount. Null if the network is no longer listed. Additive.
   */
  confirmationsRequired: number | null
  /**
   * Confirmations that the deposit has, at most `confirmationsRequired`. Additive.
   */
  confirmationsSeen: number
  /**
   * Average time in seconds from the deposit to the payout, including confirmations and random delays. Null if a network is no longer listed. Additive.
   */
  expectedSeconds: number | null
  /**
   * Your own id, as it was sent; null without one. Additive.
   */
  externalId: string | null
  /**
   * Page where the payer follows this exchange, without a key. Its address is a secret: show it to the payer only. Additive.
   */
  trackingUrl: string
}
/**
 * Terms of the request.
 */
export interface CreatedRequest {
  /**
   * Source ticker.
   */
  fromCurrency: string
  /**
   * Source network.
   */
  fromNetwork: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * Requested source amount.
   */
  amountFromRequested: string
  /**
   * Quoted target amount: guaranteed at a fixed rate, otherwise an estimate.
   */
  amountToRequested: string
  /**
   * Deposit address of this exchange.
   */
  depositAddress: string
  /**
   * Memo that the deposit MUST include. Absent if none is required. Additive.
   */
  depositMemo?: string
  /**
   * Recipient address; empty if the proceeds are credited to the partner's balance.
   */
  recipientAddress: string
  /**
   * Floating (`standard`) or `fixed-rate`.
   */
  flow: Flow
}
/**
 * Execution record.
 */
export interface Execution {
  /**
   * Received deposit amount.
   */
  amountFromReceived: string | null
  /**
   * Paid amount in the target currency; null on a refund.
   */
  amountToReceived: string | null
  /**
   * Status of this execution.
   */
  status: ExchangeStatus
  /**
   * Transaction hash of the deposit.
   */
  payinHash: string | null
  /**
   * Transaction hash of the payout or refund.
   */
  payoutHash: string | null
  /**
   * Time when the deposit was first seen.
   */
  created: string
  /**
   * Reason for the status, or null. Additive.
   */
  statusReason: StatusReason | null
  /**
   * The refund once its amount is reserved, otherwise null. Additive.
   */
  refund: Refund | null
  /**
   * Confirmations that the deposit needs, by its value. Before a deposit: an estimate for the requested amount. Null if the network is no longer listed. Additive.
   */
  confirmationsRequired: number | null
  /**
   * Confirmations that the deposit has, at most `confirmationsRequired`. Additive.
   */
  confirmationsSeen: number
  /**
   * Average time in seconds from the deposit to the payout of this leg, including confirmations and random delays. Null if a network is no longer listed. Additive.
   */
  expectedSeconds: number | null
  /**
   * A deposit that arrives later is refunded or held. Additive.
   */
  expiresAt: string
  /**
   * A deposit must be seen by then to get the fixed rate; null at a floating rate. Additive.
   */
  fixedUntil: string | null
}
/**
 * A pending or completed refund.
 */
export interface Refund {
  /**
   * Refunded amount: the deposit less one network fee.
   */
  amount: string
  /**
   * Ticker of the deposited and refunded currency.
   */
  currency: string
  /**
   * Network of that currency.
   */
  network: string
  /**
   * Destination: the refund address or the sender.
   */
  address: string
  /**
   * Memo of that address.
   */
  memo: string | null
  /**
   * Transaction hash; null until the refund is signed.
   */
  hash: string | null
}
/**
 * A webhook with its secret.
 */
export interface CreatedWebhook {
  /**
   * Id of the webhook.
   */
  id: string
  /**
   * Where events are sent.
   */
  url: string
  /**
   * Event types that are sent; empty = all.
   *
   * Items: Event type.
   */
  events: EventType[]
  /**
   * Whether events are sent. Those of a disabled webhook wait.
   */
  enabled: boolean
  /**
   * Who disabled it; `failures`: its receiver failed for three days. Null while it is enabled.
   */
  disabledBy: DisabledBy | null
  /**
   * Time of the create.
   */
  created: string
  /**
   * Signs the deliveries. It is shown only here.
   */
  secret: string
}
/**
 * A currency on one network.
 */
export interface Currency {
  /**
   * Currency ticker.
   */
  ticker: string
  /**
   * Network ticker.
   */
  network: string
  /**
   * Currency symbol.
   */
  symbol: string
  /**
   * Full name.
   */
  name: string
  /**
   * Supports a memo (extra id).
   */
  hasMemo: boolean
  /**
   * A memo is required.
   */
  requireMemo: boolean
  /**
   * True for fiat money.
   */
  isFiat: boolean
  /**
   * True for a stablecoin.
   */
  isStable: boolean
  /**
   * Fixed-rate exchanges are supported.
   */
  supportsFixedRate: boolean
  /**
   * Currently available.
   */
  enabled: boolean
  /**
   * URL of the icon.
   */
  image: string
  /**
   * Regular expression for recipient addresses. Only a hint: the server also verifies checksums.
   */
  regexAddress: string
  /**
   * Explorer URL for an address; `{}` is the placeholder.
   */
  addressExplorer: string
  /**
   * Explorer URL for a transaction; `{}` is the placeholder.
   */
  txExplorer: string
  /**
   * Required confirmations of a deposit.
   */
  confirmations: number
  /**
   * Ranking priority, for sorting in a UI.
   */
  rank: number
  /**
   * Decimal places; an amount may not have more. Additive.
   */
  decimals: number
  /**
   * Token contract; null for the native currency of the network. Additive.
   */
  contractAddress: string | null
  /**
   * EIP-155 chain id; null outside EVM networks. Additive.
   */
  chainId: number | null
  /**
   * Name of the memo on this network, for labels in a UI; null without memos. Additive.
   */
  memoName: string | null
}
/**
 * A direction that can be exchanged now.
 */
export interface CurrencyPair {
  /**
   * Source ticker.
   */
  fromCurrency: string
  /**
   * Source network.
   */
  fromNetwork: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * Flows that are available now.
   *
   * Items: A flow.
   */
  flows: Flow[]
  /**
   * Minimum of a floating rate.
   */
  min: string
  /**
   * Maximum of a floating rate, from a reserve that is rounded down to two digits; null means no limit.
   */
  max: string | null
}
/**
 * A token of one network.
 */
export interface DefiCurrency {
  /**
   * Full token name.
   */
  name: string
  /**
   * Token contract; the native coin has the placeholder address.
   */
  address: string
  /**
   * Decimal places.
   */
  decimals: number
  /**
   * Token symbol.
   */
  symbol: string
  /**
   * Network ticker.
   */
  network: DefiNetworkTicker
  /**
   * Currently available for swaps.
   */
  enabled: boolean
  /**
   * URL of the icon.
   */
  image: string
}
/**
 * A network of the DeFi part. Additive.
 */
export interface DefiNetwork {
  /**
   * Network ticker.
   */
  network: DefiNetworkTicker
  /**
   * EIP-155 chain id; null outside EVM networks.
   */
  chainId: number | null
  /**
   * Swaps can be quoted and built now; false if the network is paused or not served.
   */
  enabled: boolean
}
/**
 * A webhook that was deleted.
 */
export interface DeletedWebhook {
  /**
   * Id of the webhook.
   */
  id: string
  /**
   * Always `true`.
   */
  deleted: boolean
}
/**
 * An event on its way to a webhook.
 */
export interface Delivery {
  /**
   * Id of the delivery.
   */
  id: string
  /**
   * Id of the event, the same in the body of every attempt.
   */
  eventId: string
  /**
   * Event type.
   */
  type: string
  /**
   * Whether the receiver has accepted it.
   */
  state: DeliveryState
  /**
   * Attempts so far.
   */
  attempts: number
  /**
   * When it is sent next. Null: delivered, or it waits for an earlier delivery of the same exchange.
   */
  nextAttempt: string | null
  /**
   * Time of the last attempt.
   */
  lastAttempt: string | null
  /**
   * Status of the last answer; null: none came.
   */
  lastStatus: number | null
  /**
   * Why the last attempt failed.
   */
  lastError: string | null
  /**
   * Since when it waits.
   */
  created: string
  /**
   * When the receiver accepted it.
   */
  delivered: string | null
}
/**
 * One page of deliveries.
 */
export interface DeliveryList {
  /**
   * Deliveries, the newest first.
   */
  data: Delivery[]
}
/**
 * A swap on chain.
 */
export interface DexExchange {
  /**
   * Unique identifier.
   */
  id: string
  /**
   * Creation time.
   */
  created: string
  /**
   * Time of the last update.
   */
  updated: string
  /**
   * Network ticker.
   */
  network: DefiNetworkTicker
  /**
   * Source token.
   */
  fromTokenAddress: string
  /**
   * Target token.
   */
  toTokenAddress: string
  /**
   * Amount sent.
   */
  amountFrom: string
  /**
   * Received amount; the expected amount until the receipt is known.
   */
  amountTo: string
  /**
   * Sender.
   */
  addressFrom: string
  /**
   * Recipient.
   */
  addressTo: string | null
  /**
   * Commission, percent.
   */
  commissionPercentage: string
  /**
   * Status; `finished` and `failed` are terminal.
   */
  status: SwapStatus
  /**
   * Transaction hash.
   */
  hash: string
  /**
   * Why the swap failed. Additive.
   */
  statusReason: SwapReason | null
  /**
   * Your own id, as it was sent; null without one. Additive.
   */
  externalId: string | null
}
/**
 * Swaps of the last 24 hours.
 */
export interface DexExchangeList {
  /**
   * Number of matches.
   */
  total: number
  /**
   * Newest first.
   */
  exchanges: DexExchange[]
}
/**
 * A DEX and its share of a step.
 */
export interface DexPart {
  /**
   * DEX.
   */
  name: string
  /**
   * DEX contract.
   */
  address: string
  /**
   * Fee of the DEX, percent.
   */
  fee: number
  /**
   * Percentage of the step through this DEX; the percentages of a step add up to 100.
   */
  percentage: number
}
/**
 * An error.
 */
export interface ErrorBody {
  /**
   * One sentence for the developer.
   */
  message: string
  /**
   * Reason phrase of the status.
   */
  error: string
  /**
   * The status of the answer.
   */
  statusCode: number
  /**
   * Stable code. The page /docs/errors of this server lists every code and what to do about it.
   */
  code: ErrorCode
  /**
   * The same id as in the header X-Request-Id. Include it in support requests.
   */
  requestId: string
  /**
   * All problems of the request.
   */
  errors: Problem[]
}
/**
 * A change of an exchange.
 */
export interface ExchangeEvent {
  /**
   * Id of the event, the same in every repeat.
   */
  id: string
  /**
   * Event type.
   */
  type: ExchangeEventType
  /**
   * Time of the change.
   */
  created: string
  data: ExchangeStatusAnswer
}
/**
 * Kind and exchange.
 */
export interface ExchangeStatusAnswer {
  /**
   * Kind of exchange.
   */
  type: ExchangeType
  exchange: ExchangeRecord
}
/**
 * Cross-chain exchange.
 */
export interface ExchangeRecord {
  /**
   * Unique exchange identifier.
   */
  id: string
  /**
   * Creation time.
   */
  created: string
  /**
   * Kind of exchange.
   */
  exchangeType: ExchangeType
  /**
   * Overall status. `pending` is the initial value; `finished`, `failed` and `refunded` are terminal.
   */
  status: ExchangeStatus
  /**
   * Reason for the status, or null. Additive.
   */
  statusReason: StatusReason | null
  request: ExchangeRequest
  /**
   * Execution records, oldest first; of more than 100 the latest 100.
   */
  exchanges: Execution[]
  /**
   * A deposit that arrives later is refunded or held. Additive.
   */
  expiresAt: string
  /**
   * A deposit must be seen by then to get the fixed rate; null at a floating rate. Additive.
   */
  fixedUntil: string | null
  /**
   * Confirmations that the deposit needs, by its value. Before a deposit: an estimate for the requested amount. Null if the network is no longer listed. Additive.
   */
  confirmationsRequired: number | null
  /**
   * Confirmations that the deposit has, at most `confirmationsRequired`. Additive.
   */
  confirmationsSeen: number
  /**
   * Average time in seconds from the deposit to the payout, including confirmations and random delays. Null if a network is no longer listed. Additive.
   */
  expectedSeconds: number | null
  /**
   * Your own id, as it was sent; null without one. Additive.
   */
  externalId: string | null
  /**
   * Page where the payer follows this exchange, without a key. Its address is a secret: show it to the payer only. Additive.
   */
  trackingUrl: string
}
/**
 * Terms of the request.
 */
export interface ExchangeRequest {
  /**
   * Source ticker.
   */
  fromCurrency: string
  /**
   * Source network.
   */
  fromNetwork: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * Requested source amount.
   */
  amountFromRequested: string
  /**
   * Quoted target amount: guaranteed at a fixed rate, otherwise an estimate.
   */
  amountToRequested: string
  /**
   * Deposit address of this exchange.
   */
  depositAddress: string
  /**
   * Memo that the deposit must include; null if none is required.
   */
  depositMemo: string | null
  /**
   * Recipient address; empty if the proceeds are credited to the partner's balance.
   */
  recipientAddress: string
  /**
   * Memo of the recipient.
   */
  recipientMemo: string | null
  /**
   * Refund address.
   */
  refundAddress: string | null
  /**
   * Memo of the refund address.
   */
  refundMemo: string | null
  /**
   * Floating (`standard`) or `fixed-rate`.
   */
  flow: Flow
}
/**
 * Exchanges of the last 24 hours.
 */
export interface ExchangeList {
  /**
   * Number of matches in the last 24 hours.
   */
  total: number
  /**
   * Newest first.
   */
  data: ListedExchange[]
}
/**
 * Cross-chain exchange in a list.
 */
export interface ListedExchange {
  /**
   * Unique exchange identifier.
   */
  id: string
  /**
   * Creation time.
   */
  created: string
  /**
   * Kind of exchange.
   */
  exchangeType: ExchangeType
  /**
   * Overall status. `pending` is the initial value; `finished`, `failed` and `refunded` are terminal.
   */
  status: ExchangeStatus
  /**
   * Reason for the status, or null. Additive.
   */
  statusReason: StatusReason | null
  request: ListedRequest
  /**
   * Execution records, oldest first; of more than 100 the latest 100.
   */
  exchanges: Execution[]
  /**
   * A deposit that arrives later is refunded or held. Additive.
   */
  expiresAt: string
  /**
   * A deposit must be seen by then to get the fixed rate; null at a floating rate. Additive.
   */
  fixedUntil: string | null
  /**
   * Confirmations that the deposit needs, by its value. Before a deposit: an estimate for the requested amount. Null if the network is no longer listed. Additive.
   */
  confirmationsRequired: number | null
  /**
   * Confirmations that the deposit has, at most `confirmationsRequired`. Additive.
   */
  confirmationsSeen: number
  /**
   * Average time in seconds from the deposit to the payout, including confirmations and random delays. Null if a network is no longer listed. Additive.
   */
  expectedSeconds: number | null
  /**
   * Your own id, as it was sent; null without one. Additive.
   */
  externalId: string | null
}
/**
 * Terms of the request.
 */
export interface ListedRequest {
  /**
   * Source ticker.
   */
  fromCurrency: string
  /**
   * Source network.
   */
  fromNetwork: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * Requested source amount.
   */
  amountFromRequested: string
  /**
   * Quoted target amount: guaranteed at a fixed rate, otherwise an estimate.
   */
  amountToRequested: string
  /**
   * Deposit address of this exchange.
   */
  depositAddress: string
  /**
   * Memo that the deposit must include; null if none is required.
   */
  depositMemo: string | null
  /**
   * Recipient address; empty if the proceeds are credited to the partner's balance.
   */
  recipientAddress: string
  /**
   * Memo of the recipient.
   */
  recipientMemo: string | null
  /**
   * Refund address.
   */
  refundAddress: string | null
  /**
   * Memo of the refund address.
   */
  refundMemo: string | null
}
/**
 * One page of all exchanges of a period.
 */
export interface ExchangeReport {
  /**
   * Oldest first.
   */
  data: ReportedExchange[]
  /**
   * Value of `page` for the next page; null on the last one.
   */
  nextPage: string | null
}
/**
 * An exchange of the report.
 */
export interface ReportedExchange {
  /**
   * Unique exchange identifier.
   */
  id: string
  /**
   * Creation time.
   */
  created: string
  /**
   * Kind of exchange.
   */
  exchangeType: ExchangeType
  /**
   * Overall status. `pending` is the initial value; `finished`, `failed` and `refunded` are terminal.
   */
  status: ExchangeStatus
  /**
   * Reason for the status, or null. Additive.
   */
  statusReason: StatusReason | null
  request: ListedRequest
  /**
   * Execution records, oldest first; of more than 100 the latest 100.
   */
  exchanges: Execution[]
  /**
   * A deposit that arrives later is refunded or held. Additive.
   */
  expiresAt: string
  /**
   * A deposit must be seen by then to get the fixed rate; null at a floating rate. Additive.
   */
  fixedUntil: string | null
  /**
   * Confirmations that the deposit needs, by its value. Before a deposit: an estimate for the requested amount. Null if the network is no longer listed. Additive.
   */
  confirmationsRequired: number | null
  /**
   * Confirmations that the deposit has, at most `confirmationsRequired`. Additive.
   */
  confirmationsSeen: number
  /**
   * Average time in seconds from the deposit to the payout, including confirmations and random delays. Null if a network is no longer listed. Additive.
   */
  expectedSeconds: number | null
  /**
   * Your own id, as it was sent; null without one. Additive.
   */
  externalId: string | null
  /**
   * Identity of the source currency outside of this service.
   */
  fromToken: AssetIdentity
  /**
   * Identity of the target currency outside of this service.
   */
  toToken: AssetIdentity
  /**
   * Time when the status became terminal; null while it is not. A deposit after a failure can change it: the exchange is open again until the refund.
   */
  completedDate: string | null
}
/**
 * Kinds and exchanges.
 */
export interface ExchangeStatusList {
  /**
   * In the order of `ids`. Ids that are unknown, or of another partner, are absent.
   */
  data: ExchangeStatusAnswer[]
}
/**
 * The intermediary of this quote. A create chooses again. Additive.
 */
export interface Intermediary {
  /**
   * Ticker of the intermediary.
   */
  currency: string
  /**
   * Network of the intermediary.
   */
  network: string
  /**
   * True if the payment between the legs is public on this network: its amount and time help to match payer and recipient, and random delays do not prevent that. False for XMR, where only the two ends are public.
   */
  isTransparent: boolean
}
/**
 * The process is running.
 */
export interface Live {
  /**
   * Always `ok`.
   */
  status: string
}
/**
 * The refund address of an exchange.
 */
export interface NamedRefundAddress {
  /**
   * Exchange id.
   */
  id: string
  /**
   * Refund address, in the canonical form of its network.
   */
  refundAddress: string
  /**
   * Memo of the refund address, or null.
   */
  refundMemo: string | null
}
export interface NameRefundAddressBody {
  /**
   * Exchange id.
   */
  id: string
  /**
   * Refund address on the source network.
   */
  refundAddress: string
  /**
   * Memo of the refund address.
   */
  refundMemo?: string | null
}
/**
 * A balance.
 */
export interface PartnerBalance {
  /**
   * Ticker; of fees of swaps the address of the token.
   */
  currency: string
  /**
   * Its network.
   */
  network: string
  /**
   * What we owe you.
   */
  amount: string
}
/**
 * We pay the whole balance in this currency once a month (UTC).
 */
export interface MonthlyPayoutSetting {
  /**
   * Ticker; of fees of swaps the address of the token.
   */
  currency: string
  /**
   * Its network.
   */
  network: string
  /**
   * A smaller balance is not paid out.
   */
  minimum: string
  /**
   * Your recipient, as you and the operator have verified it.
   */
  address: string
  /**
   * Its memo, on networks that have one.
   */
  memo: string | null
  /**
   * Before, your balances in currencies without a payout of their own are converted into this one.
   */
  convertsOthers: boolean
}
/**
 * Your fee address on a network.
 */
export interface FeeAddress {
  /**
   * The network.
   */
  network: string
  /**
   * Where builds of swaps send your referrer fees. Null: to an address of ours, and we owe them to you.
   */
  address: string | null
  /**
   * A change that has not taken effect; null without one.
   */
  next: NextFeeAddress | null
}
/**
 * A fee address that waits.
 */
export interface NextFeeAddress {
  /**
   * The new address.
   */
  address: string
  /**
   * When it takes effect.
   */
  effective: string
}
/**
 * Your fee addresses.
 */
export interface FeeAddressList {
  /**
   * Networks with an address or a change, in alphabetical order.
   */
  data: FeeAddress[]
}
/**
 * A fee address to set.
 */
export interface SetFeeAddressBody {
  /**
   * Network ticker: `eth`, `sol`, `sui`, `sei`, `arbitrum`, `base`, `bsc`, `cchain`, `celo`, `linea`, `matic`, `op`, `sonic`, `uni`; in any case. Common aliases are accepted.
   */
  network: DefiNetworkTicker | (string & {})
  /**
   * The new address. It takes effect after a delay. The address that is in effect now withdraws a waiting change, and `none` removes both, at once.
   */
  address: string
}
/**
 * Balances of the partner by currency.
 */
export interface PartnerBalances {
  /**
   * Balances above zero.
   */
  data: PartnerBalance[]
  /**
   * Currencies that we pay out every month.
   */
  monthlyPayouts: MonthlyPayoutSetting[]
}
/**
 * Statement of fees, proceeds and payments.
 */
export interface PartnerFees {
  /**
   * First day.
   */
  from: string
  /**
   * Last day.
   */
  to: string
  /**
   * By day, currency and kind.
   */
  data: PartnerMovement[]
}
/**
 * Bookings of one kind and currency on one day.
 */
export interface PartnerMovement {
  /**
   * Day, in UTC.
   */
  date: string
  /**
   * Ticker; of fees of swaps the address of the token.
   */
  currency: string
  /**
   * Its network.
   */
  network: string
  /**
   * `exchangeFee` and `swapFee`: your fees; `proceeds`: of exchanges without a recipient; `converted`: into the currency of your monthly payout; `paidOut`: what we sent to you.
   */
  kind: MovementKind
  /**
   * Added to the balance on this day.
   */
  credited: string
  /**
   * Taken from it: paid out, or reversed.
   */
  debited: string
  /**
   * Number of bookings.
   */
  count: number
}
/**
 * Limits of the partner and their use.
 */
export interface PartnerUsage {
  /**
   * Public part of the API key of this request.
   */
  keyId: string
  /**
   * Scopes of this key.
   */
  scopes: string[]
  /**
   * Weight that all keys of the partner may use in a minute.
   */
  requestsPerMinute: number
  /**
   * What is left of it in this minute; null if requests are not limited.
   */
  requestsLeft: number | null
  /**
   * Seconds until it is full again; null without a limit.
   */
  resetSeconds: number | null
  /**
   * Exchanges that are not finished, failed (cancelled too) or refunded; a pending one until it expires.
   */
  openExchanges: number
  /**
   * Their maximum.
   */
  openExchangesMax: number
  /**
   * Your fee of new exchanges, in percent.
   */
  feePercent: string
  /**
   * Unknown members of requests are refused.
   */
  strict: boolean
}
/**
 * Rate quote of a private exchange, with both legs and both network fees.
 */
export interface PrivateRateQuote {
  /**
   * Minimum allowed amount.
   */
  min: number
  /**
   * Maximum allowed amount, from a reserve that is rounded down to two digits; null means no limit.
   */
  max: number | null
  /**
   * Requested amount.
   */
  fromAmount: number
  /**
   * Estimated amount that the recipient gets, net of all fees.
   */
  toAmount: number
  /**
   * Source ticker.
   */
  fromCurrency: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Source network.
   */
  fromNetwork: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * USD equivalent of the source amount.
   */
  amountFromUsd: string
  /**
   * USD equivalent of the target amount.
   */
  amountToUsd: string
  fees: QuoteFees
  /**
   * What `min` gives: the `toAmount` of its quote. Additive.
   */
  minTo: number
  /**
   * What `max` gives: the `toAmount` of its quote; null means no limit. Additive.
   */
  maxTo: number | null
  /**
   * Average time in seconds from the deposit to the payout, including confirmations and random delays. Additive.
   */
  expectedSeconds: number
  intermediary: Intermediary
}
/**
 * Ready: at least one direction can be quoted.
 */
export interface Ready {
  /**
   * Always `ready`.
   */
  status: string
}
export interface SendApprovalBody {
  /**
   * Network ticker: `eth`, `sol`, `sui`, `sei`, `arbitrum`, `base`, `bsc`, `cchain`, `celo`, `linea`, `matic`, `op`, `sonic`, `uni`; in any case. Common aliases are accepted.
   */
  network: DefiNetworkTicker | (string & {})
  /**
   * The signed approval transaction.
   */
  rawApproveTx: string
}
export interface SendSwapBody {
  /**
   * Receiver.
   */
  account: string
  /**
   * Amount sent; may be 0 if `isExchange` is false. Text, or a JSON number of at most 15 significant digits.
   */
  amountFrom: string
  /**
   * Amount to be received; may be 0 if `isExchange` is false. Text, or a JSON number of at most 15 significant digits.
   */
  amountTo: string
  /**
   * Token to swap; the placeholder address for the native coin.
   */
  fromTokenAddress: string
  /**
   * Token to receive.
   */
  toTokenAddress: string
  /**
   * Network ticker: `eth`, `sol`, `sui`, `sei`, `arbitrum`, `base`, `bsc`, `cchain`, `celo`, `linea`, `matic`, `op`, `sonic`, `uni`; in any case. Common aliases are accepted.
   */
  network: DefiNetworkTicker | (string & {})
  /**
   * The `referrerFee` of the build request.
   */
  commissionPercentage: string
  /**
   * The signed swap transaction. Required without `hash`. EVM: hexadecimal. Sui: what `signTransaction` of the SDKs returns, as JSON, or BCS of `SenderSignedData` in base64.
   */
  rawTx?: string | null
  /**
   * Hash of a transaction that was already broadcast.
   */
  hash?: string | null
  /**
   * Recipient; the same as `account`.
   */
  to?: string | null
  /**
   * False for an approval or any transaction that is not a swap: it is broadcast without recording an exchange.
   */
  isExchange?: boolean | null
  /**
   * Your own id of the swap, 1 to 64 printable ASCII characters. It is returned and filters lists. Absent: that of the build. The first one that was sent for a transaction stays. Additive.
   */
  externalId?: string | null
}
/**
 * A step of a route.
 */
export interface SubRoute {
  /**
   * Source token of the step.
   */
  from: string
  /**
   * Target token of the step.
   */
  to: string
  dexes: DexPart[]
}
/**
 * A change of a swap.
 */
export interface SwapEvent {
  /**
   * Id of the event, the same in every repeat.
   */
  id: string
  /**
   * Event type.
   */
  type: SwapEventType
  /**
   * Time of the change.
   */
  created: string
  data: DexExchange
}
/**
 * A change of a fee address.
 */
export interface PartnerChangeEvent {
  /**
   * Id of the event, the same in every repeat.
   */
  id: string
  /**
   * Event type.
   */
  type: 'partner.fee_address_changed'
  /**
   * Time of the change.
   */
  created: string
  data: FeeAddressList
}
/**
 * Swap quote.
 */
export interface SwapQuote {
  /**
   * Amount to swap.
   */
  fromAmount: string
  /**
   * Value of `fromAmount` in US dollars; empty if the price is unknown.
   */
  usdFromAmount: string
  /**
   * Estimated amount to receive, before fees.
   */
  toAmount: string
  /**
   * Value of `toAmount` in US dollars; empty if the price is unknown.
   */
  usdToAmount: string
  /**
   * Amount that the user receives after fees.
   */
  receivedAmount: string
  /**
   * All fees, in the target token.
   */
  fee: string
  /**
   * How the amount is split.
   */
  routes: SwapRoute[]
  /**
   * Price impact against the middle price, in percent; positive is worse. Empty if the pools have no middle price.
   */
  priceImpact: string
  /**
   * `fromAmount`, in base units. Additive.
   */
  fromAmountRaw: string
  /**
   * `toAmount`, in base units. Additive.
   */
  toAmountRaw: string
  /**
   * `receivedAmount`, in base units. Additive.
   */
  receivedAmountRaw: string
  /**
   * Minimum received amount; the swap reverts below it. Additive.
   */
  minReceived: string
  /**
   * Current aggregator quotes, best first, if the operator uses aggregators. `routes` names the source of this quote. Additive.
   */
  alternatives?: AggregatorQuote[]
  /**
   * What the swap is expected to leave of intermediate tokens in the user's account, on networks whose transactions state the amount of each swap (Solana). Not part of `toAmount`. Additive.
   */
  remainders?: SwapRemainder[]
  /**
   * Block whose state the quote uses. Additive.
   */
  block: number
  /**
   * Expiry of the quote. Additive.
   */
  expiresAt: string
}
/**
 * A share of the swap and its steps.
 */
export interface SwapRoute {
  /**
   * Percentage of the swap through this route; the percentages of all routes add up to 100.
   */
  percentage: number
  subRoutes: SubRoute[]
}
/**
 * An intermediate token that remains with the user. Additive.
 */
export interface SwapRemainder {
  /**
   * Token address.
   */
  address: string
  /**
   * Expected amount.
   */
  amount: string
  /**
   * `amount`, in base units. Additive.
   */
  amountRaw: string
}
/**
 * A deposit of the payer.
 */
export interface TrackedDeposit {
  /**
   * Received deposit amount.
   */
  amountFromReceived: string | null
  /**
   * Paid amount in the target currency; null on a refund.
   */
  amountToReceived: string | null
  /**
   * Overall status. `pending` is the initial value; `finished`, `failed` and `refunded` are terminal.
   */
  status: ExchangeStatus
  /**
   * Reason for the status, or null. Additive.
   */
  statusReason: StatusReason | null
  /**
   * Transaction hash of the deposit.
   */
  payinHash: string | null
  /**
   * Transaction hash of the payout to the recipient; null on a refund.
   */
  payoutHash: string | null
  /**
   * The refund once its amount is reserved, otherwise null.
   */
  refund: Refund | null
  /**
   * Time when the deposit was first seen.
   */
  created: string
  /**
   * Confirmations that the deposit needs, by its value. Before a deposit: an estimate for the requested amount. Null if the network is no longer listed. Additive.
   */
  confirmationsRequired: number | null
  /**
   * Confirmations that the deposit has, at most `confirmationsRequired`. Additive.
   */
  confirmationsSeen: number
}
/**
 * Public status of an exchange.
 */
export interface TrackedExchange {
  /**
   * Unique exchange identifier.
   */
  id: string
  /**
   * Creation time.
   */
  created: string
  /**
   * Kind of exchange.
   */
  exchangeType: ExchangeType
  /**
   * Overall status. `pending` is the initial value; `finished`, `failed` and `refunded` are terminal.
   */
  status: ExchangeStatus
  /**
   * Reason for the status, or null. Additive.
   */
  statusReason: StatusReason | null
  request: ExchangeRequest
  /**
   * Oldest first; of more than 100 the latest 100.
   */
  deposits: TrackedDeposit[]
  /**
   * A refund waits for an address. The tracking page has a form for it if the partner allows that.
   */
  needsRefundAddress: boolean
  /**
   * A deposit that arrives later is refunded or held. Additive.
   */
  expiresAt: string
  /**
   * A deposit must be seen by then to get the fixed rate; null at a floating rate. Additive.
   */
  fixedUntil: string | null
  /**
   * Confirmations that the deposit needs, by its value. Before a deposit: an estimate for the requested amount. Null if the network is no longer listed. Additive.
   */
  confirmationsRequired: number | null
  /**
   * Confirmations that the deposit has, at most `confirmationsRequired`. Additive.
   */
  confirmationsSeen: number
  /**
   * Average time in seconds from the deposit to the payout, including confirmations and random delays. Of a private exchange the time through the slowest intermediary, so that it names none. Null if a network is no longer listed.
   */
  expectedSeconds: number | null
}
/**
 * The webhook that is tested.
 */
export interface TestedWebhook {
  /**
   * Id of the webhook.
   */
  webhookId: string
}
/**
 * A webhook.
 */
export interface Webhook {
  /**
   * Id of the webhook.
   */
  id: string
  /**
   * Where events are sent.
   */
  url: string
  /**
   * Event types that are sent; empty = all.
   *
   * Items: Event type.
   */
  events: EventType[]
  /**
   * Whether events are sent. Those of a disabled webhook wait.
   */
  enabled: boolean
  /**
   * Who disabled it; `failures`: its receiver failed for three days. Null while it is enabled.
   */
  disabledBy: DisabledBy | null
  /**
   * Time of the create.
   */
  created: string
}
/**
 * The webhooks of the partner.
 */
export interface WebhookList {
  /**
   * All webhooks, the oldest first.
   */
  data: Webhook[]
}
/**
 * The new secret of a webhook.
 */
export interface WebhookSecret {
  /**
   * Id of the webhook.
   */
  id: string
  /**
   * Signs the deliveries. It is shown only here.
   */
  secret: string
}
/**
 * A test event.
 */
export interface WebhookTest {
  /**
   * Id of the event that is sent.
   */
  eventId: string
}
/**
 * A test event. No stream has it.
 */
export interface WebhookTestEvent {
  /**
   * Id of the event, the same in every repeat.
   */
  id: string
  /**
   * Event type.
   */
  type: 'webhook.test'
  /**
   * Time of the change.
   */
  created: string
  data: TestedWebhook
}
/**
 * A balance.
 */
export interface SandboxBalance {
  /**
   * Decimal amount.
   */
  amount: string
}
/**
 * Blocks to mine.
 */
export interface SandboxBlocksBody {
  /**
   * Network ticker.
   */
  network: string
  /**
   * Blocks to mine.
   */
  count: number
}
/**
 * A payment that was sent.
 */
export interface SandboxDeposit {
  /**
   * Transaction hash.
   */
  hash: string
}
/**
 * A payment from the sandbox bank.
 */
export interface SandboxDepositBody {
  /**
   * Network ticker.
   */
  network: string
  /**
   * Ticker, or `native` for the network's native coin.
   */
  currency: string
  /**
   * An address on the network.
   */
  address: string
  /**
   * Memo of the payment.
   */
  memo?: string | null
  /**
   * Decimal amount.
   */
  amount: string
}
/**
 * An exchange whose time has ended.
 */
export interface SandboxExpiry {
  /**
   * Exchange id.
   */
  id: string
  /**
   * Its new expiry: a time that has passed.
   */
  expiresAt: string
}
/**
 * An exchange of your own.
 */
export interface SandboxExpiryBody {
  /**
   * Exchange id.
   */
  id: string
}
/**
 * Whether scheduled blocks are mined.
 */
export interface SandboxMiningBody {
  /**
   * Network ticker.
   */
  network: string
  /**
   * `true` stops the scheduled blocks, `false` resumes them.
   */
  paused: boolean
}
/**
 * A local chain.
 */
export interface SandboxNetwork {
  /**
   * Network ticker.
   */
  network: string
  /**
   * JSON-RPC URL of its node.
   */
  rpcUrl: string
  /**
   * EIP-155 chain id of the local chain.
   */
  chainId?: number
  /**
   * Program that runs the node.
   */
  client: string
  [k: string]: unknown
}
/**
 * A fixed reference price.
 */
export interface SandboxPricesBody {
  /**
   * Ticker.
   */
  currency: string
  /**
   * US dollars per coin, in decimal text; null lets the price move again.
   */
  usd: string | null
}
/**
 * Blocks to replace.
 */
export interface SandboxReorgsBody {
  /**
   * Network ticker.
   */
  network: string
  /**
   * Blocks to replace.
   */
  depth: number
  /**
   * Drops the bank's payments of the replaced blocks for good.
   */
  drop?: boolean | null
}
/**
 * What the control did.
 */
export interface SandboxReport {
  [k: string]: unknown
}
/**
 * A new wallet outside of this service.
 */
export interface SandboxWallet {
  /**
   * Network ticker.
   */
  network: string
  /**
   * Its address.
   */
  address: string
  /**
   * Its memo; null if the network has none.
   */
  memo: string | null
  /**
   * Its private key.
   */
  privateKey: string
}
/**
 * Network of the wallet.
 */
export interface SandboxWalletBody {
  /**
   * Network ticker.
   */
  network: string
}
export interface QuoteRateQuery {
  /**
   * Source ticker, in any case, or its token contract.
   */
  fromCurrency: string
  /**
   * Source network, in any case; common aliases and EIP-155 chain ids are accepted.
   */
  fromNetwork: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * Token contract of the source currency: another one than ours is refused. Additive.
   */
  fromContractAddress?: string
  /**
   * EIP-155 chain id of the source network: another one than ours is refused. Additive.
   */
  fromChainId?: string
  /**
   * Token contract of the target currency: another one than ours is refused. Additive.
   */
  toContractAddress?: string
  /**
   * EIP-155 chain id of the target network: another one than ours is refused. Additive.
   */
  toChainId?: string
  /**
   * Amount to exchange.
   */
  amount?: string
  /**
   * Amount that the recipient shall get, in place of `amount`. The quote has the smallest `fromAmount` for which its `toAmount` is at least this amount. Additive.
   */
  toAmount?: string
  /**
   * Floating or fixed rate.
   */
  flow?: Flow
}
export interface QuotePrivateRateQuery {
  /**
   * Source ticker, in any case, or its token contract.
   */
  fromCurrency: string
  /**
   * Source network, in any case; common aliases and EIP-155 chain ids are accepted.
   */
  fromNetwork: string
  /**
   * Target ticker.
   */
  toCurrency: string
  /**
   * Target network.
   */
  toNetwork: string
  /**
   * Token contract of the source currency: another one than ours is refused. Additive.
   */
  fromContractAddress?: string
  /**
   * EIP-155 chain id of the source network: another one than ours is refused. Additive.
   */
  fromChainId?: string
  /**
   * Token contract of the target currency: another one than ours is refused. Additive.
   */
  toContractAddress?: string
  /**
   * EIP-155 chain id of the target network: another one than ours is refused. Additive.
   */
  toChainId?: string
  /**
   * Amount to exchange.
   */
  amount?: string
  /**
   * Amount that the recipient shall get, in place of `amount`. The quote has the smallest `fromAmount` for which its `toAmount` is at least this amount. Additive.
   */
  toAmount?: string
  /**
   * `privatePlus`: through XMR, which hides the payment between the legs. `efficient`: through the fastest and cheapest network, where that payment is usually public.
   */
  privateType: PrivateType
}
export interface GetExchangeStatusQuery {
  /**
   * Exchange id. Required without `ids`.
   */
  id?: string
  /**
   * Up to 100 exchange ids, separated by commas, in place of `id`: the response is `{data: […]}`. Every ten further ids cost as much as one request. Additive.
   */
  ids?: string
}
export interface GetStandardExchangeStatusQuery {
  /**
   * Exchange id.
   */
  id: string
}
export interface GetPrivateExchangeStatusQuery {
  /**
   * Exchange id.
   */
  id: string
}
export interface GetTrackedExchangeQuery {
  /**
   * The last part of the path of `trackingUrl`.
   */
  token: string
}
export interface ListExchangesQuery {
  /**
   * Only this status.
   */
  status?: ExchangeStatus
  /**
   * Only this source ticker.
   */
  fromCurrency?: string
  /**
   * Only this source network.
   */
  fromNetwork?: string
  /**
   * Only this target ticker.
   */
  toCurrency?: string
  /**
   * Only this target network.
   */
  toNetwork?: string
  /**
   * Only this kind.
   */
  exchangeType?: ExchangeType
  /**
   * Only exchanges with this id of yours. Additive.
   */
  externalId?: string
  /**
   * 1-based page number. Pages count from the newest item at the time of each request, so that items may repeat or be missing between pages when some are added or change meanwhile. Without `page` and `limit` all matches are returned, each once: prefer that. Additive.
   */
  page?: number
  /**
   * Items per page, 1 to 500; 100 if only `page` is given. Additive.
   */
  limit?: number
}
export interface ValidateAddressQuery {
  /**
   * Ticker of the currency to pay out.
   */
  currency: string
  /**
   * Its network.
   */
  network: string
  /**
   * Address to check.
   */
  address: string
  /**
   * Memo to check.
   */
  memo?: string
}
export interface GetTokenQuery {
  /**
   * Network ticker: `eth`, `sol`, `sui`, `sei`, `arbitrum`, `base`, `bsc`, `cchain`, `celo`, `linea`, `matic`, `op`, `sonic`, `uni`; in any case. Common aliases are accepted.
   */
  network: DefiNetworkTicker | (string & {})
  /**
   * Token contract.
   */
  address: string
}
export interface ListTokensQuery {
  /**
   * Network ticker: `eth`, `sol`, `sui`, `sei`, `arbitrum`, `base`, `bsc`, `cchain`, `celo`, `linea`, `matic`, `op`, `sonic`, `uni`; in any case. Common aliases are accepted.
   */
  network: DefiNetworkTicker | (string & {})
  /**
   * 1-based page number.
   */
  page?: number
  /**
   * Items per page, 1 to 500.
   */
  limit?: number
}
export interface QuoteSwapQuery {
  /**
   * Network ticker: `eth`, `sol`, `sui`, `sei`, `arbitrum`, `base`, `bsc`, `cchain`, `celo`, `linea`, `matic`, `op`, `sonic`, `uni`; in any case. Common aliases are accepted.
   */
  network: DefiNetworkTicker | (string & {})
  /**
   * Token to swap; the placeholder address for the native coin.
   */
  fromTokenAddress: string
  /**
   * Token to receive.
   */
  toTokenAddress: string
  /**
   * Amount to swap.
   */
  amount: string
  /**
   * Maximum accepted slippage below the quote, in percent, 0.01 to 50.
   */
  slippage: string
  /**
   * The partner's fee in percent of the output, 0 to 5.
   */
  referrerFee: string
  /**
   * Highest accepted loss in percent, 0 to 100, against the pools' middle price and against reference prices. Without it the operator's limits apply (15 and 10 by default). Additive.
   */
  maxPriceImpact?: string
}
export interface ListSwapsQuery {
  /**
   * Only this status.
   */
  status?: SwapStatus
  /**
   * Only this source token.
   */
  fromTokenAddress?: string
  /**
   * Only this target token.
   */
  toTokenAddress?: string
  /**
   * Only this network.
   */
  network?: DefiNetworkTicker | (string & {})
  /**
   * Only the swap with this transaction hash. Additive.
   */
  hash?: string
  /**
   * Only swaps of this sender. Additive.
   */
  account?: string
  /**
   * Only swaps with this id of yours. Additive.
   */
  externalId?: string
  /**
   * 1-based page number. Pages count from the newest item at the time of each request, so that items may repeat or be missing between pages when some are added or change meanwhile. Without `page` and `limit` all matches are returned, each once: prefer that. Additive.
   */
  page?: number
  /**
   * Items per page, 1 to 500; 100 if only `page` is given. Additive.
   */
  limit?: number
}
export interface GetSwapStatusQuery {
  /**
   * Id of the swap. Required without `hash`.
   */
  id?: string
  /**
   * Transaction hash of the swap. Required without `id`.
   */
  hash?: string
}
export interface GetWebhookQuery {
  /**
   * Id of the webhook.
   */
  id: string
}
export interface DeleteWebhookQuery {
  /**
   * Id of the webhook.
   */
  id: string
}
export interface RotateWebhookSecretQuery {
  /**
   * Id of the webhook.
   */
  id: string
}
export interface EnableWebhookQuery {
  /**
   * Id of the webhook.
   */
  id: string
}
export interface DisableWebhookQuery {
  /**
   * Id of the webhook.
   */
  id: string
}
export interface TestWebhookQuery {
  /**
   * Id of the webhook.
   */
  id: string
}
export interface ListDeliveriesQuery {
  /**
   * Id of the webhook.
   */
  id: string
  /**
   * The last id of the page before. Absent: the newest deliveries.
   */
  before?: string
  /**
   * Deliveries per page.
   */
  limit?: number
}
export interface RedeliverQuery {
  /**
   * Id of the webhook.
   */
  id: string
  /**
   * Id of the delivery.
   */
  deliveryId: string
}
export interface ListPairsQuery {
  /**
   * Only this source ticker.
   */
  fromCurrency?: string
  /**
   * Only this source network.
   */
  fromNetwork?: string
  /**
   * Only this target ticker.
   */
  toCurrency?: string
  /**
   * Only this target network.
   */
  toNetwork?: string
}
export interface GetPartnerBalancesQuery {
  /**
   * `csv` returns the same rows as CSV (RFC 4180), as `Accept: text/csv` does.
   */
  format?: AnswerFormat
}
export interface GetPartnerFeesQuery {
  /**
   * First day, in UTC.
   */
  from: string
  /**
   * Last day, in UTC; at most 366 days after the first.
   */
  to: string
  /**
   * `csv` returns the same rows as CSV (RFC 4180), as `Accept: text/csv` does.
   */
  format?: AnswerFormat
}
export interface ListPartnerExchangesQuery {
  /**
   * Created at or after this day or time, in UTC. Default: the first exchange.
   */
  from?: string
  /**
   * Created before this day or time, in UTC. Default: now.
   */
  to?: string
  /**
   * `nextPage` of the previous page. Default: the first page.
   */
  page?: string
  /**
   * Exchanges per page, 1 to 500.
   */
  limit?: number
  /**
   * `csv` returns the same rows as CSV (RFC 4180), as `Accept: text/csv` does.
   */
  format?: AnswerFormat
}
export interface GetSandboxBalanceQuery {
  /**
   * Network ticker.
   */
  network: string
  /**
   * Ticker, or `native` for the network's native coin.
   */
  currency: string
  /**
   * An address on the network.
   */
  address: string
}
