import type { Network } from '../../core/domain/network.ts'
import type { BlockRef } from '../../core/ports/chain.ts'
import type { AggregatorCall } from '../domain/aggregator-call.ts'
import type { ExecutedSwap } from '../routing/execute.ts'

export type TokenFacts = Readonly<{ name: string; symbol: string; decimals: number }>

/** What is to be built: everything about the swap, nothing about the chain's state. Base units, lower-case addresses. */
export type SwapOrder = Readonly<{
  account: string
  recipient: string
  tokenIn: string
  tokenOut: string
  amountIn: bigint
  /** After the referrer's fee: what the recipient gets at least. */
  minReceived: bigint
  feePpm: number
  feeTo: string
  /** Seconds since 1970. */
  deadline: number
  swaps: readonly ExecutedSwap[]
  /** In place of `swaps`: another router's call, made by the executor for outside routers. */
  aggregatorCall?: AggregatorCall
  /** Ours for this swap: stands in the contract's event. 32 bytes in hex as they are, any other text by its hash. */
  ref: string
}>

/** Unsigned, serialized as the ecosystem's libraries sign it. */
export type PreparedSwap = Readonly<{
  approve: string | null
  swap: string
  /** what the simulation paid the recipient */
  simulatedOut: bigint
}>

/** A signed transaction as it was sent in, decoded and checked as far as that needs no node. */
export type SignedTransaction = Readonly<{
  hash: string
  signer: string
  chainId: number
  nonce: number
  to: string | null
  /** What it does, as far as we know the contract and the function; null = something else. */
  act:
    | Readonly<{ kind: 'approve'; token: string; spender: string; units: bigint }>
    /** It gives an allowance, but not by a plain `approve` as we build it. */
    | Readonly<{ kind: 'odd-approval' }>
    | Readonly<{
        /** A call of our router. The native coin is `nativeAddress`. The service compares the executor with the one in force. */
        kind: 'swap'
        router: string
        executor: string
        tokenIn: string
        tokenOut: string
        amountIn: bigint
        minReceived: bigint
        recipient: string
        feePpm: number
        feeTo: string
        deadline: number
        /** 32 bytes in hex. */
        ref: string
        /** By the executor for outside routers: what it calls. */
        aggregatorCall?: AggregatorCall
        /** As `SwapChain.callHash` has it of the order that this came of. */
        callHash: string
      }>
    | null
}>

/** What the chain says of a swap's transaction. */
export type SwapObservation =
  | Readonly<{
      kind: 'included'
      block: BlockRef
      confirmations: number
      ok: boolean
      /** what the recipient got, from the receipt */
      received: bigint | null
      /** what the referrer got, likewise */
      fee: bigint | null
    }>
  | Readonly<{ kind: 'pending' }>
  | Readonly<{ kind: 'unseen' }>
  /** Another transaction of the same account and nonce is final. */
  | Readonly<{ kind: 'replaced' }>

/** A swap of our router that paid a fee, as its event says. */
export type PaidFee = Readonly<{
  hash: string
  logIndex: number
  height: number
  /** 32 bytes in hex. */
  ref: string
  /** Who called the router. */
  sender: string
  token: string
  units: bigint
}>

/** What a transaction moved from one account to another. */
export type Payment = Readonly<{ units: bigint; confirmations: number }>

/** `because` is read from the account's state, never from a node's words. */
export type SwapBroadcast =
  | Readonly<{ kind: 'accepted' }>
  | Readonly<{ kind: 'known' }>
  | Readonly<{
      kind: 'rejected'
      reason: string
      because: 'nonce-used' | 'insufficient-funds' | 'underpriced' | 'other'
    }>
  | Readonly<{ kind: 'unknown'; reason: string }>

/** One DeFi network, as swaps see it. Implemented once per family in `adapters/`. */
export interface SwapChain {
  readonly network: Network
  /** The wrapped native coin that routes use in its place. */
  readonly wrapped: string
  /** What approvals must name, and where swaps go. Lower case, as all addresses here. */
  readonly router: string
  /** The executor in force. */
  readonly executor: string
  /** The one in force for outside routers: who trades in their eyes. */
  readonly externalExecutor: string
  /**
   * Canonical (lower-case) address of a token, or null. Checksums that are wrong are refused. The native coin's placeholder in
   * any case, the zero address, and a contract that is the coin itself (Polygon) are `nativeAddress`.
   */
  parse(text: string): string | null
  /** The same of an account that can be paid: not the coin's placeholders, nor what chains reserve for themselves. */
  parseAccount(text: string): string | null
  /** As the ecosystem writes an address: with its checksum, the native coin by its placeholder. */
  formatAddress(address: string): string
  /** null where there is no contract, or no token. */
  readToken(address: string): Promise<TokenFacts | null>
  /** Of the router's call that carries an order out, with nothing for its reference: which other calls have another. */
  callHash(order: Omit<SwapOrder, 'ref'>): string
  /** Throws SIMULATION_FAILED (`reason`), INSUFFICIENT_BALANCE (`required` and `available` in units `of` the coin or the token), ALLOWANCE_RESET_REQUIRED (`rawTx`), NO_ROUTE. */
  prepare(order: SwapOrder): Promise<PreparedSwap>
  /** Throws RAW_TX_INVALID, TX_CHAIN_MISMATCH. */
  readSigned(raw: string): SignedTransaction
  /** To every node. */
  broadcast(raw: string): Promise<SwapBroadcast>
  /** `sent`: whose nonce it takes; without it a replacement is not told from a transaction that is unseen. */
  observe(hash: string, sent?: Readonly<{ signer: string; nonce: number }>): Promise<SwapObservation>
  /** A transaction that some node knows, mined or not, for those who name only its hash. null = no node has it. */
  lookUp(hash: string): Promise<SignedTransaction | null>
  /** What a transaction moved of a token, or of the coin, between two accounts. null = it is in no block, or it failed. */
  payment(hash: string, asked: Readonly<{ token: string; from: string; to: string }>): Promise<Payment | null>
  /** The newest block that every node has and none can take back. */
  finalHeight(): Promise<number>
  /** Swaps with a fee in a run of final blocks, in their order, where every node says the same. */
  paidFees(from: number, to: number): Promise<readonly PaidFee[]>
  /** What an account holds now of a token, or of the coin. */
  balance(address: string, token: string): Promise<bigint>
}
