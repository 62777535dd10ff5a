import type { ExecutedSwap } from '../routing/execute.ts'

/** Amounts in base units; tokens in canonical form. */
export type AggregatorOrder = Readonly<{
  network: string
  /** EIP-155, of the production chain; null outside EVM networks. */
  chainId: number | null
  /** The native coin, as it occurs in `tokenIn` and `tokenOut`. */
  native: string
  tokenIn: string
  tokenOut: string
  amountIn: bigint
}>

/** The claimed output, before our fee. */
export type AggregatorQuote = Readonly<{
  amountOut: bigint
  /** Of the whole transaction, in the units that the network prices: gas, compute units. Null if the aggregator reports none. */
  gas: number | null
}>

/** `taker` holds the input and receives the output: our executor, or the user's account in families without one. */
export type TakerOrder = AggregatorOrder & Readonly<{ taker: string; slippagePpm: number }>

/** A call of an EVM contract as the aggregator returned it. */
export type ContractTransaction = Readonly<{
  amountOut: bigint
  target: string
  /** The contract that spends the input; null if the aggregator reports none. */
  spender: string | null
  value: bigint
  calldata: string
}>

/** An instruction of Solana. `data` in base64. */
export type AggregatorInstruction = Readonly<{
  program: string
  accounts: readonly Readonly<{ address: string; isSigner: boolean; isWritable: boolean }>[]
  data: string
}>

/** Instructions of Solana as the aggregator returned them. */
export type InstructionsTransaction = Readonly<{
  amountOut: bigint
  /** Run before the swap. */
  setup: readonly AggregatorInstruction[]
  swap: AggregatorInstruction
  /** Lookup tables that shorten the transaction. */
  tables: readonly string[]
}>

/** A swap in a pool of Sui as the aggregator returned it, in the order of execution. */
export type PoolStep = Readonly<{ dex: string; pool: string; from: string; to: string; amountIn: bigint }>
export type PoolsTransaction = Readonly<{ amountOut: bigint; steps: readonly PoolStep[] }>

/** What an aggregator returned, unchecked, in the form of a network family. */
export type AggregatorTransaction = ContractTransaction | InstructionsTransaction | PoolsTransaction

/** A checked call of an aggregator's router. Canonical addresses and bytes. */
export type ContractCall = Readonly<{
  target: string
  /** The contract that may spend the input during the call; null for native input, which is sent as value. */
  spender: string | null
  calldata: string
}>

/** A token account of the user that the instruction of an aggregator may use. */
export type GuardedAccount = Readonly<{
  address: string
  mint: string
  /** The token program of the mint. */
  program: string
  decimals: number
  /** Its balance when the instruction was checked; null if it does not exist. */
  held: bigint | null
}>

/** A checked instruction of an aggregator's program on Solana. */
export type InstructionCall = Readonly<{
  amountOut: bigint
  instruction: AggregatorInstruction
  source: GuardedAccount
  target: GuardedAccount
  /** Token accounts of tokens between the two. */
  others: readonly GuardedAccount[]
  /** What the user held when the instruction was checked, with the lamports of the account of wrapped SOL that the swap closes. */
  lamports: bigint
  /** Lookup tables with their final addresses. */
  tables: readonly Readonly<{ address: string; addresses: readonly string[] }>[]
}>

/** A checked route over pools that we read ourselves. It replaces the swaps of our own route. */
export type RouteCall = Readonly<{ swaps: readonly ExecutedSwap[] }>

/** A checked trade of an aggregator, in the form of a network family. Only its `SwapChain` reads it. */
export type AggregatorCall = ContractCall | InstructionCall | RouteCall

/** A checked call with the output that the aggregator claims for it, or that we computed. */
export type AggregatorTrade = Readonly<{ amountOut: bigint; call: AggregatorCall }>

/** An external DEX aggregator. Its methods return null without a route, after the timeout, or for an unreadable reply. They never throw. */
export interface Aggregator {
  readonly id: string
  serves(network: string): boolean
  /** Its published contracts, programs or packages on a network: only these may be called or approved. */
  contracts(network: string): readonly string[]
  quote(order: AggregatorOrder, timeoutMs: number): Promise<AggregatorQuote | null>
  build(order: TakerOrder, timeoutMs: number): Promise<AggregatorTransaction | null>
}
