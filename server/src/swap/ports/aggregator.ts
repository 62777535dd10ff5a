/** Amounts in base units; tokens in canonical form, the native coin by its placeholder. */
export type AggregatorOrder = Readonly<{
  network: string
  /** Of the real chain. */
  chainId: number
  tokenIn: string
  tokenOut: string
  amountIn: bigint
}>

/** What it says it would pay, before any fee of ours. */
export type AggregatorQuote = Readonly<{
  amountOut: bigint
  /** Of its transaction; null where it does not say. */
  gas: number | null
}>

/** Who trades: our executor, which has the input and gets the output. */
export type TakerOrder = AggregatorOrder & Readonly<{ taker: string; slippagePpm: number }>

/** A transaction of somebody else's router, as it came: nothing of it is believed before it was checked. */
export type AggregatorTransaction = Readonly<{
  amountOut: bigint
  target: string
  /** Who takes the input; null where it does not say. */
  spender: string | null
  value: bigint
  calldata: string
}>

/** Somebody else's router. Its methods answer null where it has no route, is late, or cannot be read. They never throw. */
export interface Aggregator {
  readonly id: string
  serves(network: string): boolean
  /** Its published contracts on a network, lower case: nothing else is called or allowed to spend. */
  contracts(network: string): readonly string[]
  quote(order: AggregatorOrder, timeoutMs: number): Promise<AggregatorQuote | null>
  build(order: TakerOrder, timeoutMs: number): Promise<AggregatorTransaction | null>
}
