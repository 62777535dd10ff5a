import type { BlockRef } from '../../core/ports/chain.ts'
import type { Pool } from '../routing/pool-kinds.ts'

/** The pools of a network as they are after `block`. A pool that no block has touched is the same object as before. */
export type PoolsAt = Readonly<{
  block: BlockRef
  readAtMs: number
  /** Height of the newest block when that was known. */
  head: number
  pools: readonly Pool[]
  /** Tokens of theirs that take a fee on transfer: no route leads through these. */
  taxed: ReadonlySet<string>
  /** Wei that a unit of gas costs now. */
  gasPrice: bigint
  wrapped: string
}>

export type PoolCounts = Readonly<{ reorgs: number; differences: number; rereads: number }>

/** The pools of one network, kept current. */
export interface PoolSource {
  readonly network: string
  /** null before the first read. */
  current(): PoolsAt | null
  counts(): PoolCounts
  liquidity(): ReadonlyMap<string, number>
  /** Looks for the pools of a token (lower case) in one of the next turns. */
  want(token: string): void
  /** One turn: brings the pools to the newest block. `again` where it is known not to have got there. */
  advance(): Promise<'again' | undefined>
}

/** A network's pools as text, packed. */
export type PoolSnapshot = Readonly<{ network: string; block: BlockRef; packed: Uint8Array }>

/** Where pools are kept for the next start. An older block never takes the place of a newer one. */
export interface PoolSnapshots {
  load(network: string): Promise<PoolSnapshot | null>
  save(snapshot: PoolSnapshot): Promise<void>
}
