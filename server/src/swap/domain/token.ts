/** A token on a DeFi network, or its native coin. */
export type Token = Readonly<{
  network: string
  /** In the canonical form of its network. */
  address: string
  name: string
  symbol: string
  decimals: number
}>
