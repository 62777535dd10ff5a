import type { BlockRef } from '../../core/ports/chain.ts'
import type { ExecutedSwap } from '../routing/execute.ts'
import type { Pool } from '../routing/pool-kinds.ts'

/** The pools of a network after `block`. An unchanged pool keeps its object identity. */
export type PoolsAt = Readonly<{
  block: BlockRef
  readAtMs: number
  /** Height of the chain's newest block when the pools were read. */
  head: number
  pools: readonly Pool[]
  /** Tokens of the published lists and of the operator, with the connector tokens. Any other is only source or target of a trade. */
  listed: ReadonlySet<string>
  /** Tokens between the input and the output of a route; default: the listed ones. */
  intermediates?: ReadonlySet<string>
  /** Tokens of these pools that no route uses, with the reason as a predicate: "takes a fee on transfer". */
  refusedTokens: ReadonlyMap<string, string>
  /** Current price of a million units of gas, in base units of the native coin. */
  millionGasPrice: bigint
  /** The token by which pools represent the native coin. */
  wrapped: string
  nativeDecimals: number
  /** Tighter limits of a route than those of the search, where a transaction cannot hold more. */
  routeLimits?: RouteLimits
}>

/**
 * `hopsMax`: pools that a unit passes through. `swapsMax`: swaps of one route.
 * Transactions of such a network state the amounts of each swap. So a later swap can spend only what the ones before it are sure to pay: the
 * quoted output less the slippage, at most `marginMaxPpm`. `fits`: whether a transaction can hold the route.
 */
export type RouteLimits = Readonly<{
  hopsMax: number
  swapsMax: number
  marginMaxPpm: number
  fits(swaps: readonly ExecutedSwap[], terms: RouteTerms): boolean
}>
export type RouteTerms = Readonly<{ tokenIn: string; tokenOut: string; paysFee: boolean }>

export type PoolCounts = Readonly<{ reorgs: number; differences: number; rereads: number }>

/** In base units of the native coin. */
export type PoolsDepth = Readonly<{ units: number; maximumUnits: number }>

/** A pool that is followed. `dollars`: its usable liquidity in whole US dollars; null without a price of the stablecoin. */
export type ListedPool = Readonly<{ id: string; dex: string; tokens: readonly string[]; dollars: number | null }>

/** The pools of one network, kept current. */
export interface PoolSource {
  readonly network: string
  /** Null before the first read. */
  current(): PoolsAt | null
  counts(): PoolCounts
  liquidity(): ReadonlyMap<string, number>
  /** Usable liquidity of the pools of listed tokens: now, and the most of the last 24 hours. */
  depth(): PoolsDepth
  /** Every pool that is followed, also paused ones. */
  listPools(): readonly ListedPool[]
  /** Replaces the pauses of pools; the scopes of all networks (`poolPausesOf`). */
  pause(scopes: Iterable<string>): void
  /** Schedules a search for the pools of a token. */
  request(token: string): void
  /** Updates the pools towards the newest block. Returns `again` if it did not reach it. */
  advance(): Promise<'again' | undefined>
}

/** The pools of a network as compressed text. */
export type PoolSnapshot = Readonly<{ network: string; block: BlockRef; packed: Uint8Array }>

/** Stores pools for the next start. An older block never replaces a newer one. */
export interface PoolSnapshots {
  load(network: string): Promise<PoolSnapshot | null>
  save(snapshot: PoolSnapshot): Promise<void>
}
