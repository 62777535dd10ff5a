/** Amounts in base units; tokens in canonical form, the native coin by its placeholder. */
export type AggregatorOrder = Readonly<{
  network: string
  /** Of the production chain. */
  chainId: number
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

/** `taker` is our executor: it holds the input and receives the output. */
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

/** A checked call of an aggregator's router, made by our executor. Addresses and bytes in lower case. */
export type AggregatorCall = Readonly<{
  target: string
  /** The contract that may spend the input during the call; null for native input, which is sent as value. */
  spender: string | null
  calldata: string
}>

/** An external DEX aggregator. Its methods return null without a route, after the timeout, or for an unreadable reply. They never throw. */
export interface Aggregator {
  readonly id: string
  serves(network: string): boolean
  /** Its published contracts on a network, lower case: only these may be called or approved. */
  contracts(network: string): readonly string[]
  quote(order: AggregatorOrder, timeoutMs: number): Promise<AggregatorQuote | null>
  build(order: TakerOrder, timeoutMs: number): Promise<AggregatorTransaction | null>
}
