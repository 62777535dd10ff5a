import type { BlockRef } from '../../core/ports/chain.ts'
import type { ExecutedSwap } from '../routing/execute.ts'

/** Base units; tokens by lower-case address, the wrapped coin in place of the native one. */
export type RouteOrder = Readonly<{ network: string; tokenIn: string; tokenOut: string; amountIn: bigint }>

/** A route with the exact amounts that it moves at the pools' state after `block`. */
export type RoutedSwap = Readonly<{
  block: BlockRef
  amountOut: bigint
  /** In order of execution; none where the coin is but wrapped or unwrapped. */
  swaps: readonly ExecutedSwap[]
  /** Gas of the swaps, without the transaction's own. */
  gas: number
  /** What a million gas cost now in base units of the target; 0 where no pool tells. */
  millionGasOut: bigint
  /** What `amountIn` would bring at the pools' middle prices, without fees and without moving them. */
  middleOut: bigint
}>

export type PoolState = Readonly<{
  block: BlockRef
  /** When the block was read, by the clock of this process. */
  readAtMs: number
  pools: number
}>

/** Routes over the pools of all DeFi networks, from state that is kept current in memory: a quote waits for no node. */
export interface Router {
  /** One to one from the wrapped coin to itself. Throws NO_ROUTE, INSUFFICIENT_LIQUIDITY, and NETWORK_UNAVAILABLE where the state is older than the network's bound. */
  route(order: RouteOrder): Promise<RoutedSwap>
  /** null where the network is not served or not read yet. */
  state(network: string): PoolState | null
  /** Usable liquidity by token, in whole US dollars as far as it is known: for the order of token lists. */
  liquidity(network: string): ReadonlyMap<string, number>
}
