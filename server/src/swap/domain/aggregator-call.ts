/** A checked call of an aggregator's router, made by our executor. Addresses and bytes in lower case. */
export type AggregatorCall = Readonly<{
  target: string
  /** The contract that may spend the input during the call; null for native input, which is sent as value. */
  spender: string | null
  calldata: string
}>
