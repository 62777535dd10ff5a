/** One replayed swap: what the trader paid and received in base units, or the program's error and zeros. */
export type LabSwap = Readonly<{
  pool: number
  n: number
  paid: bigint
  received: bigint
  /** The program's code; a text for a panic; null = the swap succeeded. */
  error: number | string | null
}>
