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
  /** Of the whole transaction; null if the aggregator reports none. */
  gas: number | null
}>

/** `taker` holds the input and receives the output: our executor, or the user's account in families without one. */
export type TakerOrder = AggregatorOrder & Readonly<{ taker: string; slippagePpm: number }>

/** A transaction as the aggregator returned it, unchecked. */
export type AggregatorTransaction = Readonly<{
  amountOut: bigint
  target: string
  /** The contract that spends the input; null if the aggregator reports none. */
  spender: string | null
  value: bigint
  calldata: string
}>

/** A checked call of an aggregator's router. Canonical addresses and bytes. */
export type AggregatorCall = Readonly<{
  target: string
  /** The contract that may spend the input during the call; null for native input, which is sent as value. */
  spender: string | null
  calldata: string
}>

/** A checked call with the output that the aggregator claims for it. */
export type AggregatorTrade = Readonly<{ amountOut: bigint; call: AggregatorCall }>

/** An external DEX aggregator. Its methods return null without a route, after the timeout, or for an unreadable reply. They never throw. */
export interface Aggregator {
  readonly id: string
  serves(network: string): boolean
  /** Its published contracts on a network: only these may be called or approved. */
  contracts(network: string): readonly string[]
  quote(order: AggregatorOrder, timeoutMs: number): Promise<AggregatorQuote | null>
  build(order: TakerOrder, timeoutMs: number): Promise<AggregatorTransaction | null>
}
