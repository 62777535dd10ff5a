/** Amounts of the two tokens of a pool, in the pool's order. */
export type TokenPair = readonly [bigint, bigint]

/** The pair with another value for one token. */
export const replaceAt = ([first, second]: TokenPair, index: 0 | 1, value: bigint): TokenPair =>
  index === 0 ? [value, second] : [first, value]

/** The pair with `units` more of one token. */
export const addAt = (pair: TokenPair, index: 0 | 1, units: bigint): TokenPair =>
  replaceAt(pair, index, pair[index] + units)
