/** One call of an outside router, made by our executor for it. Addresses and bytes in lower case. */
export type AggregatorCall = Readonly<{
  target: string
  /** Who may take the input while the call runs; null for the native coin, which comes with the call. */
  spender: string | null
  calldata: string
}>
