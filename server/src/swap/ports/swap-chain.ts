import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import type { BlockRef } from '../../core/ports/chain.ts'
import type { TransactionObservation } from '../domain/swap.ts'
import type { ExecutedSwap } from '../routing/execute.ts'
import type { AggregatorCall } from './aggregator.ts'

export type TokenFacts = Readonly<{ name: string; symbol: string; decimals: number }>

/** A swap to be built, independent of chain state. Base units, lower-case addresses. */
export type SwapOrder = Readonly<{
  account: string
  recipient: string
  tokenIn: string
  tokenOut: string
  amountIn: bigint
  /** Least amount for the recipient, after the referrer fee. */
  minReceived: bigint
  feePpm: number
  feeTo: string
  /** Seconds since 1970. */
  deadline: number
  swaps: readonly ExecutedSwap[]
  /** Replaces `swaps`: a call of an aggregator, made by the external executor. */
  aggregatorCall?: AggregatorCall
  /** Our reference, which the contract's event repeats: 32 bytes in hex; other text is hashed. */
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
  chainId: number
  nonce: number
  to: string | null
  /** The decoded call; null if we do not know the contract or the function. */
  action:
    | Readonly<{ kind: 'approve'; token: string; spender: string; units: bigint }>
    /** Grants an allowance other than by the plain `approve` that we build. */
    | Readonly<{ kind: 'unsupported-approval' }>
    | SwapAction
    | null
}>

/** A decoded call of our router. Native currency is `nativeAddress`. The caller checks the executor. */
export type SwapAction = Omit<SwapOrder, 'account' | 'swaps'> &
  Readonly<{
    kind: 'swap'
    router: string
    executor: string
    /** Equals `SwapChain.hashCall` of the order that was built. */
    callHash: string
    /** Ids of the pools and the tokens that the route names; empty for a call of an aggregator. */
    pools: readonly string[]
    routeTokens: readonly string[]
  }>

/** A fee of a swap, from our router's event. */
export type PaidFee = Readonly<{
  hash: string
  logIndex: number
  height: number
  /** 32 bytes in hex. */
  ref: string
  /** Caller of the router. */
  sender: string
  token: string
  units: bigint
  /** Recipient of the fee. */
  feeTo: string
  /** The contract that traded. */
  executor: string
}>

/** The amount that a transaction moved between two accounts. */
export type Payment = Readonly<{ units: bigint; confirmations: number }>

/** `because` is derived from the account's state, not from a node's error text. */
export type SwapBroadcast =
  | Readonly<{ kind: 'accepted' }>
  | Readonly<{ kind: 'known' }>
  | Readonly<{
      kind: 'rejected'
      reason: string
      because: 'nonce-used' | 'insufficient-funds' | 'underpriced' | 'other'
    }>
  | Readonly<{ kind: 'unknown'; reason: string }>

/** One DeFi network. Implemented once per network family in `adapters/`. */
export interface SwapChain {
  readonly network: Network
  /** The wrapped native token, which routes use for native currency. */
  readonly wrapped: string
  /** The spender of approvals and the target of swaps. All addresses here are lower case. */
  readonly router: string
  /** The current executor of our own routes. */
  readonly executor: string
  /** The current executor of aggregator calls: the taker that aggregators see. */
  readonly externalExecutor: string
  /**
   * Canonical (lower-case) address of a token; null for a malformed address or a wrong checksum. The native placeholder in any
   * case, the zero address, and a contract of the native currency itself (Polygon) become `nativeAddress`.
   */
  parse(text: string): string | null
  /** As `parse`, for an account that can be paid: null for native placeholders and reserved addresses. */
  parseAccount(text: string): string | null
  /** Adds the checksum; native currency is written as its placeholder. */
  formatAddress(address: string): string
  /** Null if the address has no contract, or none of a token. */
  readToken(address: string): Promise<TokenFacts | null>
  /** Hash of the router call of an order, with a zero reference. Binds every parameter of the call. */
  hashCall(order: Omit<SwapOrder, 'ref'>): string
  /** Throws SIMULATION_FAILED (`reason`), INSUFFICIENT_BALANCE (`required`, `available` in base units `of` native or token), ALLOWANCE_RESET_REQUIRED (`rawTx`), NO_ROUTE. */
  prepare(order: SwapOrder): Promise<PreparedSwap>
  /** Whether an aggregator's call hands the input only to contracts that are known, as far as the call can be decoded. */
  isKnownCall(call: AggregatorCall, tokenIn: string): Promise<boolean>
  /** Throws RAW_TX_INVALID, TX_CHAIN_MISMATCH. */
  readSigned(raw: string): SignedTransaction
  /** Sends to every node. */
  broadcast(raw: string): Promise<SwapBroadcast>
  /** `sent` names the signer and nonce; without it a replaced transaction is reported as `unseen`. */
  observe(hash: string, sent?: Readonly<{ signer: string; nonce: number }>): Promise<TransactionObservation>
  /** A transaction by its hash, mined or pending. Null if no node knows it. */
  findTransaction(hash: string): Promise<SignedTransaction | null>
  /** Amount of a token or native currency that a transaction moved between two accounts. Null if it is not mined or failed. */
  readPayment(hash: string, transfer: Readonly<{ token: string; from: string; to: string }>): Promise<Payment | null>
  /** Height of the newest final block that every node has. */
  readFinalHeight(): Promise<number>
  /** Fees that these accounts received in a range of final blocks, in chain order. Throws if the nodes disagree. */
  listPaidFees(query: Readonly<{ from: number; to: number; feeTo: readonly string[] }>): Promise<readonly PaidFee[]>
  /** Current balance of a token or of native currency. */
  readBalance(address: string, token: string): Promise<bigint>
}
