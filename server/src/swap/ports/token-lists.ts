/** A token of a published list or of the operator's list. */
export type ListedToken = Readonly<{
  /** Lower case. */
  address: string
  name: string
  symbol: string
  decimals: number
  /** URL of its icon, if the list has one. */
  icon: string | null
}>

/** Published token lists, read once, in their order. */
export interface TokenLists {
  /** By the production chain id. */
  list(chainId: number): readonly ListedToken[]
}
