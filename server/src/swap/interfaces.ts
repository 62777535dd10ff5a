import type { Partner } from '../core/domain/partner.ts'
import type { BlockRef } from '../core/ports/chain.ts'
import type { Idempotency } from '../core/services/interfaces.ts'
import type { Swap, SwapStatus } from './domain/swap.ts'
import type { Token } from './domain/token.ts'
import type { OutsideOffer } from './quotes/ask-aggregators.ts'
import type { RoutePath } from './routing/route-breakdown.ts'

/** Text as the partner sent it. */
export type SwapRequest = Readonly<{
  network: string
  fromTokenAddress: string
  toTokenAddress: string
  amount: string
  slippage: string
  referrerFee: string
}>

export type BuildRequest = SwapRequest & Readonly<{ account: string }>

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
  isExchange: boolean
}>

/** A token as partners see it. Addresses here are as the ecosystem spells them. */
export type TokenView = Readonly<{ token: Token; enabled: boolean; icon: string | null }>

/** What a swap would bring at the state after `block`. Amounts in base units. */
export type SwapQuoteView = Readonly<{
  from: Token
  to: Token
  amountIn: bigint
  /** Before the referrer's fee. */
  amountOut: bigint
  fee: bigint
  received: bigint
  minReceived: bigint
  /** Scaled by 10^12; null where no price is known. */
  fromUsd: bigint | null
  toUsd: bigint | null
  /** Millionths; positive is worse; null where there is no middle price. */
  impactPpm: bigint | null
  routes: readonly RoutePath[]
  /** Somebody else's router whose offer this is, or the wrapped coin, with its contract; null = our own route. */
  provider: Readonly<{ name: string; address: string }> | null
  /** What others would pay; null where none is asked. */
  outside: readonly OutsideOffer[] | null
  block: BlockRef
  expiresAt: Date
  /** As the network spells an address of a route. */
  spell(address: string): string
}>

/** Exact, ANDed; text as the partner sent it, canonical as far as it can be. What is no address matches nothing. */
export type SwapListFilter = Readonly<{
  status?: SwapStatus
  fromTokenAddress?: string
  toTokenAddress?: string
  network?: string
}>

export type SwapView = Readonly<{ swap: Swap; spell(address: string): string }>

/** The DeFi half, as the HTTP floor calls it. Failures are `AppError`s. */
export type SwapServices = Readonly<{
  /** The list is the same array until something changes. */
  listTokens(network: string): readonly TokenView[]
  /** Waits for a node where the token is met for the first time. */
  readToken(network: string, address: string): Promise<TokenView>
  /** No database and no node: a token that is met for the first time is read behind it, and NO_ROUTE until then. */
  quoteSwap(request: SwapRequest): Promise<SwapQuoteView>
  /** One or two unsigned transactions. */
  buildSwap(partner: Partner, request: BuildRequest, idempotency: Idempotency | null): Promise<readonly string[]>
  /** The hash. */
  sendApproval(
    partner: Partner,
    request: Readonly<{ network: string; rawApproveTx: string }>,
    idempotency: Idempotency | null,
  ): Promise<string>
  /** The hash. */
  sendSwap(partner: Partner, request: SendRequest, idempotency: Idempotency | null): Promise<string>
  /** The last 24 h, newest first. Without a page: all, streamed by key range. */
  listSwaps(
    partner: Partner,
    filter: SwapListFilter,
    page: { page: number; limit: number } | null,
  ): Promise<{ total: number; rows: AsyncIterable<SwapView> }>
}>

/** What the operator sets of swaps; times in milliseconds. */
export type SwapSettings = Readonly<{
  /** How long a quote is meant to hold. */
  quoteMs: number
  /** How long after its build a swap may get into a block. */
  deadlineMs: number
  /** A transaction that no node has known for so long is dropped. */
  droppedMs: number
  /** Above this share of the middle price lost, nothing is quoted or built. */
  impactMaxPpm: number
  /** Where fees go for partners without an address of their own, by network. */
  feeAddresses: ReadonlyMap<string, string>
  /** By how much of our own route's output an outside router must pay more, net of gas, to be taken. */
  aggregatorGainBps: number
}>

export const swapDefaults = {
  quoteMs: 30_000,
  deadlineMs: 20 * 60_000,
  droppedMs: 10 * 60_000,
  impactMaxPpm: 500_000,
  feeAddresses: new Map(),
  aggregatorGainBps: 5,
} as const satisfies SwapSettings

/** Tokens of one network that are listed in any case: the sandbox's, or the operator's own. */
export type OwnTokens = readonly Readonly<{ address: string; name: string; symbol: string; decimals: number }>[]
