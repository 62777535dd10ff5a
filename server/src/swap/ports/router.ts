import type { BlockRef } from '../../core/ports/chain.ts'
import type { ExecutedSwap } from '../routing/execute.ts'
import type { ListedPool, PoolsDepth } from './pools.ts'

/** Base units; tokens by canonical address, the native coin by its wrapped token. */
export type RouteOrder = Readonly<{
  network: string
  tokenIn: string
  tokenOut: string
  amountIn: bigint
  /** Ids of pools that the route must not use. */
  avoid?: readonly string[]
  /** Terms of the swap, for networks whose transactions state the amounts of each pool. Millionths; default 0. */
  slippagePpm?: number
  feePpm?: number
}>

/** What a route leaves of an intermediate token in the user's account. */
export type Remainder = Readonly<{ token: string; decimals: number; units: bigint }>

/** A route with its exact amounts for the pools' state after `block`. */
export type RoutedSwap = Readonly<{
  block: BlockRef
  amountOut: bigint
  /** In order of execution; empty if native currency is only wrapped or unwrapped. */
  swaps: readonly ExecutedSwap[]
  /** Gas of the swaps, without the transaction's base cost. */
  gas: number
  /** Current price of a million gas in base units of the output token; 0 if no pool prices it. */
  millionGasOut: bigint
  /** Output of `amountIn` at the pools' middle prices, without fees and price impact. */
  middleOut: bigint
  /** The sides of the trade that are on no token list: anybody may have created them. */
  unlisted: readonly string[]
  /** Expected at the state of the pools; absent where a route leaves nothing. */
  remainders?: readonly Remainder[]
}>

export type PoolState = Readonly<{
  block: BlockRef
  /** Time of the read by the clock of this process. */
  readAtMs: number
  pools: number
}>

/** Finds routes over the pools of all DeFi networks, from state in memory: a quote waits for no node. */
export interface Router {
  /** From the wrapped token to itself the rate is 1. Throws NO_ROUTE, INSUFFICIENT_LIQUIDITY, or NETWORK_UNAVAILABLE if the state is older than the network's limit. */
  route(order: RouteOrder): Promise<RoutedSwap>
  /** Null if the network is not served, or its pools are not read yet. */
  state(network: string): PoolState | null
  /** Usable liquidity by token, in whole US dollars where known. Orders token lists. */
  liquidity(network: string): ReadonlyMap<string, number>
  /** Null before the first report. */
  depth(network: string): PoolsDepth | null
  /** Also paused pools. Throws NETWORK_UNAVAILABLE if the network is not served, or its pools are not read yet. */
  listPools(network: string): Promise<readonly ListedPool[]>
}
