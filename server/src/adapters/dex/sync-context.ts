import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import type { LimitFunction } from 'p-limit'
import type { Network } from '../../core/domain/network.ts'
import type { Log } from '../../lib/log.ts'
import type { Dex, DexNetwork } from '../../swap/domain/dex.ts'
import type { PoolPauses } from '../../swap/domain/pool-pauses.ts'
import type { PoolSnapshots } from '../../swap/ports/pools.ts'
import type { Rpc } from '../chains/evm/rpc.ts'
import type { DepthHistory } from '../pools/depth-history.ts'
import type { ListedTokens } from '../pools/rank.ts'
import type { DroppedPools } from './dropped-pools.ts'
import type { Follower } from './follow.ts'
import type { PoolSet } from './pool-set.ts'
import type { ReadContext } from './tracked-pool.ts'

export type PoolSettings = Readonly<{
  poolsMax: number
  /** Limit of ticks of all pools together. */
  ticksMax: number
  /** The pools of older DEXes are looked up by pairs instead of scanned. */
  scanBlocksMax: number
  /** After a longer absence all pools are read again instead of updated by logs. */
  catchUpBlocksMax: number
  /** Blocks between two comparisons of some pools with the chain. */
  compareEveryBlocks: number
  comparePools: number
  snapshotEveryMs: number
  /** Interval of token lookups, for pools that had no value before. */
  renewEveryMs: number
  /** Maximum age of the newest block. Beyond it the node or the chain has stopped. */
  headAgeMaxMs: number
}>

/** Limit of blocks that a rollback undoes. Nodes without an archive keep the state of 128 blocks. */
const REORG_DEPTH_MAX = 64
export const reorgDepth = ({ finalityBlocks }: Network): number => Math.min(finalityBlocks, REORG_DEPTH_MAX)

export type NetworkPoolsOptions = Readonly<{
  network: Network
  rpcUrls: readonly NodeEndpoint[]
  dexNetwork: DexNetwork
  /** Listed tokens. Their pairs with the connector tokens are looked up; pools of other tokens are read on request only. */
  tokens: readonly string[]
  snapshots: PoolSnapshots
  /** Limits concurrent full reads, which need much memory. */
  fullReadLimit?: LimitFunction
  log: Log
  settings?: Partial<PoolSettings>
  now?: () => number
}>

export type NetworkSetup = Readonly<{
  dexes: ReadonlyMap<string, Dex>
  follower: Follower
  stablecoinUnit: number | null
}>

/** The state and dependencies of the pool sync of one network. */
export type SyncContext = Readonly<{
  options: NetworkPoolsOptions
  network: Network
  dexNetwork: DexNetwork
  /** Listed tokens, in lower case. */
  tokens: readonly string[]
  listing: ListedTokens
  settings: PoolSettings
  log: Log
  now: () => number
  /** The current node. */
  rpc(): Rpc
  readContext: ReadContext
  /** Reads from the node after the current one; null with a single node. */
  otherReadContext: ReadContext | null
  pools: PoolSet
  /** Set by the operator while the process runs. */
  pauses: { value: PoolPauses }
  dropped: DroppedPools
  depths: DepthHistory
  counts: { reorgs: number; differences: number; rereads: number }
  /** Turns since the last success in which a node refused the logs of a block. */
  refusedTurns: { value: number }
  /** The result of `setUp`; null before. */
  setup: { value: NetworkSetup | null }
}>
