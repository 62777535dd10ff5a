import type { Token } from '../domain/token.ts'

/** A token of a published list or of the operator's list, with the URL of its icon if the list has one. */
export type ListedToken = Omit<Token, 'network'> & Readonly<{ icon: string | null }>

/** Published token lists, read once, in their order. */
export interface TokenLists {
  /** By the production chain id. */
  list(chainId: number): readonly ListedToken[]
}
