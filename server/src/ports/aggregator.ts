/** Amounts in base units; tokens in canonical form, the native coin by its placeholder. */
export type AggregatorOrder = Readonly<{
  network: string
  /** Of the real chain. */
  chainId: number
  tokenIn: string
  tokenOut: string
  amountIn: bigint
}>

/** Somebody else's router. It is asked for what it would pay, before any fee of ours; what we build is our own. */
export interface Aggregator {
  readonly id: string
  serves(network: string): boolean
  /** null where it has no route, does not answer within the time, or answers what cannot be read. Never throws. */
  amountOut(order: AggregatorOrder, timeoutMs: number): Promise<bigint | null>
}
