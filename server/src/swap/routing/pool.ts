import type { Curve } from './curve.ts'

/** What every pool has. Addresses are lower case. */
export type PoolIdentity = Readonly<{
  /** Unique in its network: the pool's address, or its id (bytes32) within a vault or a manager. */
  id: string
  /** The contract that is called. */
  address: string
  /** Which DEX it belongs to: `uniswap-v3`, `sushiswap-v2`. */
  dex: string
  /** Tokens in the pool's own order. A pool that holds the native coin names the wrapped coin here, and `native` is true. */
  tokens: readonly string[]
  native?: boolean
}>

/** What a swap pays, and the pool as it is then. */
export type Swapped<S> = Readonly<{ amountOut: bigint; next: S }>

/** One kind of pool: pure, exact integers with the chain's own rounding. One file each in `pools/`. */
export type PoolMaths<S extends PoolIdentity> = Readonly<{
  /**
   * Exact output of a whole input, to the last unit. Null where the contract would revert, pay nothing, or not take all of it.
   * Tokens by their place in `tokens`.
   */
  swap(state: S, tokenIn: number, tokenOut: number, amountIn: bigint): Swapped<S> | null
  /** The same in float64, for the search. Null where nothing can be traded. */
  curve(state: S, tokenIn: number, tokenOut: number): Curve | null
}>
