import type { Curve } from './curve.ts'

/** Fields of every pool. Addresses are in the canonical form of the network. */
export type PoolIdentity = Readonly<{
  /** Unique in its network: the pool's address, or its id (bytes32) in a vault or pool manager. */
  id: string
  /** The contract that a swap calls: the pool, the vault or the pool manager. */
  address: string
  /** Name of its DEX: `uniswap-v3`, `sushiswap-v2`. */
  dex: string
  /** Tokens in the pool's own order. For a pool that holds the native coin this is the wrapped token's address, and `native` is true. */
  tokens: readonly string[]
  native?: boolean
}>

/** Output of a swap in base units, and the pool's state after it. */
export type Swapped<S> = Readonly<{ amountOut: bigint; next: S }>

/** The pure functions of one pool kind; one file each in `pools/`. Token arguments are indexes in `tokens`. */
export type PoolMaths<S extends PoolIdentity> = Readonly<{
  /**
   * Exact output for an input in base units, with the contract's integer arithmetic and rounding. Null if the contract would revert, pay
   * nothing, or not take the whole input.
   */
  swap(state: S, tokenIn: number, tokenOut: number, amountIn: bigint): Swapped<S> | null
  /** Output as a function of the input, in float64, for the search. Null if nothing can be traded. */
  curve(state: S, tokenIn: number, tokenOut: number): Curve | null
}>
