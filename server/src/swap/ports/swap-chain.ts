import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import type { BlockRef } from '../../core/ports/chain.ts'
import type { Expiry } from '../domain/expiry.ts'
import type { TransactionObservation } from '../domain/swap.ts'
import type { ExecutedSwap } from '../routing/execute.ts'
import type { AggregatorCall, AggregatorTrade, AggregatorTransaction, TakerOrder } from './aggregator.ts'

export type TokenFacts = Readonly<{ name: string; symbol: string; decimals: number }>

/** A swap to be built, independent of chain state. Base units, canonical addresses. */
export type SwapOrder = Readonly<{
  account: string
  recipient: string
  tokenIn: string
  tokenOut: string
  amountIn: bigint
  /** Least amount for the recipient, after the referrer fee. */
  minReceived: bigint
  feePpm: number
  /** Null without a fee. */
  feeTo: string | null
  /** Stated by the transaction; null where it states none and depends, for example, on a recent block. */
  expiry: Expiry | null
  swaps: readonly ExecutedSwap[]
  /** Replaces `swaps`: a checked trade of an aggregator. */
  aggregatorCall?: AggregatorCall
  /** Our reference, which the transaction contains: 32 bytes, `0x` and hexadecimal digits. */
  ref: string
}>

/** The amount that the recipient got in a simulation of the block after `block`. */
export type SwapSimulation = Readonly<{ block: BlockRef; amountOut: bigint }>

/** SIMULATION_FAILED with the amount that a simulated swap paid if it was less than its minimum. */
export class BelowMinimum extends AppError {
  readonly simulation: SwapSimulation

  constructor(message: string, reason: string, simulation: SwapSimulation) {
    super('SIMULATION_FAILED', message, { extra: { reason } })
    this.simulation = simulation
  }
}

/** SIMULATION_FAILED because an account that is paid refuses the native coin: its own code decides that, and proves nothing about the swap. */
export class CoinRefused extends AppError {
  constructor(message: string, reason: string) {
    super('SIMULATION_FAILED', message, { extra: { reason } })
  }
}

/** Unsigned transactions, serialized as wallet libraries sign them. */
export type PreparedSwap = Readonly<{
  approve: string | null
  swap: string
  /** The least amount of the simulations. */
  simulatedOut: bigint
  /** By one node, and by a second one if one is configured and answers. */
  simulations: readonly SwapSimulation[]
}>

/** A signed transaction of a partner, decoded and checked without a node. */
export type SignedTransaction = Readonly<{
  hash: string
  signer: string
  /** Null in families without nonces. */
  nonce: number | null
  /** What it calls or pays directly: contracts, programs and accounts. */
  targets: readonly string[]
  /** Hash of the recent block that it names, if its expiry follows from that block. */
  recentBlock: string | null
  /** The decoded call; null if we do not know the contract or the function. */
  action:
    | Readonly<{ kind: 'approve'; token: string; spender: string; units: bigint }>
    /** Grants an allowance other than by the plain `approve` that we build. */
    | Readonly<{ kind: 'unsupported-approval' }>
    | SwapAction
    | null
}>

/** A swap in the form that we build. The native coin is `AddressFormat.native`. The caller checks the executor. */
export type SwapAction = Omit<SwapOrder, 'account' | 'swaps'> &
  Readonly<{
    kind: 'swap'
    /** The contract that trades; null in families where a transaction calls the pools itself. */
    executor: string | null
    /** Equals `SwapChain.hashCall` of the order that was built. */
    callHash: string
    /** Ids of the pools and the tokens that the route names; empty for a call of an aggregator. */
    pools: readonly string[]
    routeTokens: readonly string[]
  }>

/** A fee of a swap, as the chain shows it. */
export type PaidFee = Readonly<{
  hash: string
  logIndex: number
  height: number
  /** As in `SwapOrder`. */
  ref: string
  /** Who swapped: the caller of the router, or the signer. */
  sender: string
  token: string
  units: bigint
  /** Recipient of the fee. */
  feeTo: string
  /** The contract that traded; null in families without one. */
  executor: string | null
}>

/** Fees of a range of blocks. `to`: the last block that was read, before the end of the range where it has too many transactions. */
export type FoundFees = Readonly<{ fees: readonly PaidFee[]; to: number }>

/** The amount that a transaction moved between two accounts. */
export type Payment = Readonly<{ units: bigint; confirmations: number }>

/** `because` is derived from the account's state, not from a node's error text. */
export type SwapBroadcast =
  | Readonly<{ kind: 'accepted' }>
  | Readonly<{ kind: 'known' }>
  | Readonly<{
      kind: 'rejected'
      reason: string
      because: 'nonce-used' | 'insufficient-funds' | 'underpriced' | 'expired' | 'other'
    }>
  | Readonly<{ kind: 'unknown'; reason: string }>

/** How a network family writes addresses and hashes. Canonical forms are compared as text, so their case counts. */
export interface AddressFormat {
  /** Canonical address of the native coin. */
  readonly native: string
  /** The form of a transaction hash, for messages: "0x and 64 hexadecimal digits". */
  readonly hashForm: string
  /** Canonical address of a token; null for a malformed address or a wrong checksum. Every form of the native coin becomes `native`. */
  parse(text: string): string | null
  /** As `parse`, for an account that can be paid: null for the native coin and reserved addresses. */
  parseAccount(text: string): string | null
  /** Canonical transaction hash; null for other text. */
  parseHash(text: string): string | null
  /** An address as partners see it, with a checksum where the family has one. */
  formatAddress(address: string): string
}

/** The signer, nonce and expiry of a sent transaction. */
export type SentTransaction = Readonly<{
  signer: string
  nonce: number | null
  expiry: Expiry
  /** The block of the last observation that found it included. */
  block?: BlockRef | null
}>

/** One DeFi network. Implemented once per network family in `adapters/`. */
export interface SwapChain extends AddressFormat {
  readonly network: Network
  /** The token by which pools represent the native coin; `native` where pools hold the coin itself. */
  readonly wrapped: string
  /** The greatest amount that a transaction can state, in base units. */
  readonly unitsMax: bigint
  /** The contract that users approve and that their swaps call; null in families without approvals. */
  readonly spender: string | null
  /** The current executor of our own routes; null in families where a transaction calls the pools itself. */
  readonly executor: string | null
  /** The account for which aggregators trade, and the executor of their calls; null: the user's own account. */
  readonly aggregatorTaker: string | null
  /** Whether a swap can pay another account than the sender's. */
  readonly paysOthers: boolean
  /**
   * Costs of an aggregator's swap in units of gas: of the whole transaction if the aggregator reports none, and of what we add to what it
   * reports.
   */
  readonly aggregatorGas: Readonly<{ unreported: number; overhead: number }>
  /** Our contracts: no accounts of users. */
  readonly ownContracts: ReadonlySet<string>
  /** Whether nodes keep a transaction until it is in a block. Where they do not, it is sent again until its expiry. */
  readonly keepsPending: boolean
  /** Whether every node is of this network; throws if one does not answer. Absent where every signed transaction names its network. */
  areNodesOnNetwork?(): Promise<boolean>
  /** Null if the address has no contract, or none of a token. */
  readToken(address: string): Promise<TokenFacts | null>
  /** The expiry that a transaction built now shall state to be valid until about `untilMs`; null if it states none. */
  chooseExpiry(untilMs: number): Promise<Expiry | null>
  /** Hash of what an order does on the chain, without its reference. Binds every parameter. */
  hashCall(order: Omit<SwapOrder, 'ref'>): string
  /**
   * Whether an address can take a payment of a token: it then holds what the network requires of every account, and has an account of the
   * token, unless the user may open one for it. Absent where the network requires nothing.
   */
  isPayable?(
    address: string,
    payment: Readonly<{ token: string; units: bigint; opensAccount: boolean }>,
  ): Promise<boolean>
  /** Throws SIMULATION_FAILED (`reason`), INSUFFICIENT_BALANCE (`required`, `available` in base units `of` native or token), ALLOWANCE_RESET_REQUIRED (`rawTx`), NO_ROUTE. */
  prepare(order: SwapOrder): Promise<PreparedSwap>
  /**
   * Checks a transaction of an aggregator: only `contracts`, only the input of the order, well-formed. Null if it fails. What it would still
   * read after `signal` is of no use.
   */
  readAggregatorCall(
    transaction: AggregatorTransaction,
    order: TakerOrder,
    contracts: readonly string[],
    signal?: AbortSignal,
  ): Promise<AggregatorTrade | null>
  /** Whether an aggregator's call hands the input only to contracts that are known, as far as the call can be decoded. */
  isKnownCall(call: AggregatorCall, tokenIn: string): Promise<boolean>
  /** Throws RAW_TX_INVALID, TX_CHAIN_MISMATCH. */
  readSigned(raw: string): SignedTransaction | Promise<SignedTransaction>
  /** Sends to every node. */
  broadcast(raw: string): Promise<SwapBroadcast>
  /** When a signed transaction can no longer be included. Asks a node only if the transaction does not state it. */
  readExpiry(signed: SignedTransaction): Promise<Expiry>
  /** Whether no block after the newest one can include a transaction with this expiry. `nowMs` decides about times. */
  isExpired(expiry: Expiry, nowMs: number): Promise<boolean>
  /** Without `sent` a replaced or expired transaction is reported as `unseen`. */
  observe(hash: string, sent?: SentTransaction): Promise<TransactionObservation>
  /** A transaction by its hash, mined or pending. Null if no node knows it. */
  findTransaction(hash: string): Promise<SignedTransaction | null>
  /** Amount of a token or native currency that a transaction moved between two accounts. Null if it is not mined or failed. */
  readPayment(hash: string, transfer: Readonly<{ token: string; from: string; to: string }>): Promise<Payment | null>
  /** Height of the newest final block that every node has. */
  readFinalHeight(): Promise<number>
  /** Fees that these accounts received in a range of final blocks, in chain order. Throws if the nodes disagree. */
  listPaidFees(query: Readonly<{ from: number; to: number; feeTo: readonly string[] }>): Promise<FoundFees>
  /** Current balance of a token or of native currency. */
  readBalance(address: string, token: string): Promise<bigint>
}
