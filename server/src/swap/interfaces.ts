import type { Caller, Partner } from '../core/domain/partner.ts'
import type { BlockRef } from '../core/ports/chain.ts'
import type { Idempotency } from '../core/services/interfaces.ts'
import type { Swap, SwapStatus } from './domain/swap.ts'
import type { Token } from './domain/token.ts'
import type { ListedPool, PoolsDepth } from './ports/pools.ts'
import type { PoolState, Remainder } from './ports/router.ts'
import type { RankedQuote } from './quotes/ask-aggregators.ts'
import type { RoutePath } from './routing/route-breakdown.ts'

/** Text as the partner sent it. */
export type SwapRequest = Readonly<{
  network: string
  fromTokenAddress: string
  toTokenAddress: string
  amount: string
  slippage: string
  referrerFee: string
  maxPriceImpact?: string
}>

export type BuildRequest = SwapRequest & Readonly<{ account: string; recipient?: string; externalId?: string }>

export type SendRequest = Readonly<{
  account: string
  amountFrom: string
  amountTo: string
  fromTokenAddress: string
  toTokenAddress: string
  network: string
  commissionPercentage: string
  rawTx?: string
  hash?: string
  to?: string
  externalId?: string
  isExchange: boolean
}>

/** A token as partners see it, with a checksummed address. */
export type TokenView = Readonly<{ token: Token; enabled: boolean; icon: string | null }>

/** A quote for the chain state after `block`. Amounts in base units. */
export type SwapQuoteView = Readonly<{
  from: Token
  to: Token
  amountIn: bigint
  /** Before the referrer fee. */
  amountOut: bigint
  fee: bigint
  received: bigint
  minReceived: bigint
  /** US dollars scaled by 10^12; null without a price. */
  fromUsd: bigint | null
  toUsd: bigint | null
  /** Millionths; positive is worse than the middle price; null without a middle price. */
  impactPpm: bigint | null
  routes: readonly RoutePath[]
  /** The aggregator, or the wrapped native token, that executes the swap; null = our own route. */
  provider: Readonly<{ name: string; address: string }> | null
  /** Intermediate tokens that the route is expected to leave in the user's account. */
  remainders: readonly Remainder[]
  /** Best first; null if no aggregator is configured. */
  aggregatorQuotes: readonly RankedQuote[] | null
  block: BlockRef
  expiresAt: Date
  /** Checksums an address of the quoted network. */
  formatAddress(address: string): string
}>

/** Exact matches, combined with AND; text as the partner sent it. Text that is no address matches nothing. */
export type SwapListFilter = Readonly<{
  status?: SwapStatus
  fromTokenAddress?: string
  toTokenAddress?: string
  network?: string
  hash?: string
  account?: string
  externalId?: string
}>

export type SwapView = Readonly<{ swap: Swap; formatAddress(address: string): string }>

/** A partner's fee address on a network, as it is shown. */
export type FeeAddressView = Readonly<{
  network: string
  address: string | null
  next: Readonly<{ address: string; effective: string }> | null
}>

/** `shown`: its tokens as operators see them; a token that is on no list has no symbol. */
export type PoolView = ListedPool & Readonly<{ shown: readonly Readonly<{ address: string; symbol: string | null }>[] }>

/** The pools of a network. The depth is in base units of the native coin; null before its first report. */
export type PoolStateView = PoolState &
  Readonly<{ network: string; symbol: string; decimals: number; depth: PoolsDepth | null }>

/** The pools that the router of this process follows. */
export type PoolReads = Readonly<{
  /** Of the networks whose pools are read. */
  states(): readonly PoolStateView[]
  /** Also paused ones. Throws NETWORK_UNAVAILABLE before they are read. */
  list(network: string): Promise<readonly PoolView[]>
}>

/** `enabled`: served and not paused. */
export type SwapNetworkView = Readonly<{ network: string; chainId: number | null; enabled: boolean }>

/** The swap half as the HTTP layer calls it. Failures are `AppError`s. */
export type SwapServices = Readonly<{
  /** Returns the same array until the list changes. */
  listTokens(network: string): readonly TokenView[]
  /** Every network of the specification. */
  listNetworks(): readonly SwapNetworkView[]
  /** Waits for a node if the token is not cached. */
  readToken(network: string, address: string): Promise<TokenView>
  /** Uses no node, and the database only for a fee where the operator has no fee address. A token that is not cached is read in the background; the quote fails with NO_ROUTE. */
  quoteSwap(partner: Partner, request: SwapRequest): Promise<SwapQuoteView>
  /** Returns one or two unsigned transactions: an approval if needed, then the swap. */
  buildSwap(partner: Partner, request: BuildRequest, idempotency: Idempotency | null): Promise<readonly string[]>
  /** Returns the transaction hash. */
  sendApproval(
    partner: Partner,
    request: Readonly<{ network: string; rawApproveTx: string }>,
    idempotency: Idempotency | null,
  ): Promise<string>
  /** Returns the transaction hash. */
  sendSwap(partner: Partner, request: SendRequest, idempotency: Idempotency | null): Promise<string>
  /** One swap of any age by its id or its hash; null if the partner has none. */
  findSwap(partner: Pick<Partner, 'id'>, key: Readonly<{ id?: string; hash?: string }>): Promise<SwapView | null>
  /** The swaps of the last 24 h, newest first. Without a page all of them, streamed by key range. */
  listSwaps(
    partner: Partner,
    filter: SwapListFilter,
    page: { page: number; limit: number } | null,
  ): Promise<{ total: number; rows: AsyncIterable<SwapView> }>
  listFeeAddresses(partner: Pick<Partner, 'id'>): Promise<readonly FeeAddressView[]>
  /** `address` of text as the partner sent it, or `none`. */
  setFeeAddress(
    caller: Caller,
    request: Readonly<{ network: string; address: string }>,
    idempotency: Idempotency | null,
  ): Promise<FeeAddressView>
}>

/** The operator's settings for swaps; times in milliseconds. */
export type SwapSettings = Readonly<{
  /** Distance of a quote's `expiresAt`. */
  quoteMs: number
  /** How long after its build a swap may be included in a block. */
  deadlineMs: number
  /** After this time without any node knowing a transaction, the swap counts as dropped. */
  droppedMs: number
  /** Highest price impact, in millionths, that is quoted or built unless the request accepts more. */
  impactMaxPpm: number
  /** The same of the loss against reference prices. */
  referenceLossMaxPpm: number
  /** The operator's fee address by network, for partners without their own. */
  feeAddresses: ReadonlyMap<string, string>
  /** The gain over our own route, in basis points of its output and net of gas, from which an aggregator is used. */
  aggregatorGainBps: number
  /** How long a fee address that a partner sets waits before it takes effect. */
  feeAddressDelayMs: number
}>

export const swapDefaults = {
  quoteMs: 30_000,
  deadlineMs: 20 * 60_000,
  droppedMs: 10 * 60_000,
  impactMaxPpm: 150_000,
  referenceLossMaxPpm: 100_000,
  feeAddresses: new Map(),
  aggregatorGainBps: 5,
  feeAddressDelayMs: 48 * 60 * 60_000,
} as const satisfies SwapSettings

/** Tokens of one network that are always listed: those of the sandbox or of the operator. */
export type OwnTokens = readonly Readonly<{ address: string; name: string; symbol: string; decimals: number }>[]
