import type { LimitFunction } from 'p-limit'
import type { Network } from '../../core/domain/network.ts'
import type { Log } from '../../lib/log.ts'
import type { Dex, DexNetwork } from '../../swap/domain/dex.ts'
import type { PoolSnapshots } from '../../swap/ports/pools.ts'
import type { Rpc } from '../chains/evm/rpc.ts'
import type { Follower } from './follow.ts'
import type { PoolSet } from './pool-set.ts'
import type { ReadContext } from './tracked-pool.ts'

export type PoolSettings = Readonly<{
  poolsMax: number
  /** Of all pools together. */
  ticksMax: number
  /** DEXes older than this are looked up by pairs instead of scanned. */
  scanBlocksMax: number
  /** After a longer absence all is read anew instead of caught up by logs. */
  catchUpBlocksMax: number
  /** Every so many blocks some pools are compared with the chain. */
  compareEveryBlocks: number
  comparePools: number
  snapshotEveryMs: number
  /** The tokens are looked up again, for pools that were worth nothing before. */
  renewEveryMs: number
  /** A head that was mined longer ago is no head: the node, or the chain, stands still. */
  headAgeMaxMs: number
}>

/** For what the chain may take back. Nodes without an archive tell no older state than of 128 blocks. */
const WAY_BACK_BLOCKS = 64
export const reorgDepth = ({ finalityBlocks }: Network): number => Math.min(finalityBlocks, WAY_BACK_BLOCKS)

export type NetworkPoolsOptions = Readonly<{
  network: Network
  rpcUrls: readonly string[]
  dexNetwork: DexNetwork
  /** Tokens that are looked up against the connector tokens. */
  tokens: readonly string[]
  snapshots: PoolSnapshots
  /** Where whole networks are read, a few at a time: it takes memory. */
  heavy?: LimitFunction
  log: Log
  settings?: Partial<PoolSettings>
  now?: () => number
}>

export type NetworkSetup = Readonly<{ dexes: ReadonlyMap<string, Dex>; follower: Follower; stablecoinUnit: number | null }>

/** One network's pools on their way from block to block: what the parts of the work share. */
export type SyncContext = Readonly<{
  options: NetworkPoolsOptions
  network: Network
  dexNetwork: DexNetwork
  /** In lower case. */
  tokens: readonly string[]
  settings: PoolSettings
  log: Log
  now: () => number
  /** The node whose turn it is. */
  rpc(): Rpc
  readContext: ReadContext
  pools: PoolSet
  counts: { reorgs: number; differences: number; rereads: number }
  /** What was found out at the beginning; null before. */
  setup: { value: NetworkSetup | null }
}>
