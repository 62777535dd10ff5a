/** A token of a published list, or of the operator's own. */
export type ListedToken = Readonly<{
  /** Lower case. */
  address: string
  name: string
  symbol: string
  decimals: number
  /** Where its icon is, if the list says so. */
  icon: string | null
}>

/** Lists of tokens, read once. The order is that of the lists. */
export interface TokenLists {
  /** By the chain's real id. */
  list(chainId: number): readonly ListedToken[]
}
