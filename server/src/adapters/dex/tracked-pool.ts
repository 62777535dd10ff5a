import type { Dex } from '../../swap/domain/dex.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { Tick } from '../../swap/routing/pools/concentrated.ts'
import type { ConcentratedPool } from '../pools/concentrated-pool.ts'
import type { BlockReader } from './block-reader.ts'
import type { DexLog } from './logs.ts'

/** A tick stays initialized while any position ends there, even if the net change is zero. */
export type GrossTick = Tick & Readonly<{ gross: bigint }>

/**
 * Ticks outside of the range are not known; there the pool counts as empty. `ticksMax`: the limit by which it ends at the nearest tick that
 * is left out; absent if only a part of the bitmap was read.
 */
export type TickRange = Readonly<{ low: number; high: number; ticksMax?: number }>

/** Reads the bitmap and the ticks of a pool. `step`: ticks between two bits of the bitmap. */
export type TickSource = Readonly<{
  step: number
  /** Null for a missing answer. */
  words(indexes: readonly number[]): Promise<readonly (bigint | null)[]>
  ticks(indexes: readonly number[]): Promise<readonly (GrossTick | null)[]>
}>

/** A pool with the data for updates from block to block. Immutable. */
export type TrackedPool = Readonly<{
  pool: Pool
  /** Concentrated kinds: their ticks, without the ends of `range`. */
  ticks?: readonly GrossTick[]
  range?: TickRange
  /** In sync, but not tradable now: paused, or its output cannot be computed exactly. */
  idle?: true
  /** Unix seconds. A block of this time or later triggers a full read, because time alone changes the pool. */
  holdsUntil?: number
  /** Forecast fee of the first swap in each second from `from`, millionths; empty if no forecast is possible. */
  fees?: Readonly<{
    from: number
    ppm: readonly number[]
    /** Slipstream: the contracts that define the fee, and their answers. */
    terms?: Readonly<{ factory: string; module: string; answers: string }>
  }>
}>

/** What identifies a pool at its factory. */
export type PoolIdentity = Readonly<{
  id: string
  address: string
  dex: Dex
  /** Lower case, in the pool's order. The wrapped token stands for the native currency, with `native` set. */
  tokens: readonly string[]
  native?: boolean
  feePpm?: number
  tickSpacing?: number
  /** Solidly: a stable pool, not a volatile one. */
  stable?: boolean
}>

/** `nativeIsToken`: the native currency is the wrapped token itself (Celo). */
export type ReadContext = Readonly<{ reader: BlockReader; wrapped: string; nativeIsToken: boolean }>

/** Finds, reads and updates the pools of one kind of DEX. */
export type DexReader = Readonly<{
  /** The emitter and the topic of the logs of new pools. */
  creation(dex: Dex): Readonly<{ address: string; topic: string }>
  parseCreation(log: DexLog, dex: Dex, wrapped: string): PoolIdentity | null
  /** Finds the addresses or tokens of new pools whose creation log does not contain them. Absent if the log does. */
  resolve?: (
    readContext: ReadContext,
    at: string,
    parseCreation: readonly PoolIdentity[],
  ) => Promise<readonly PoolIdentity[]>
  /** Reads the pools of pairs from the factory; each pair is sorted. Absent if the kind has no such call. */
  lookUp?: (
    readContext: ReadContext,
    at: string,
    dex: Dex,
    pairs: readonly (readonly [string, string])[],
  ) => Promise<readonly PoolIdentity[]>
  /** State without ticks; null if the pool is not tradable. */
  readBase(
    readContext: ReadContext,
    at: string,
    parseCreation: readonly PoolIdentity[],
  ): Promise<readonly (TrackedPool | null)[]>
  /** Adds the ticks to the state of `readBase`; null if they cannot be read. */
  readTicks?: (readContext: ReadContext, at: string, tracked: TrackedPool) => Promise<TrackedPool | null>
  /** Concentrated kinds: where the ticks of a pool are read. */
  tickSource?: (readContext: ReadContext, at: string, pool: ConcentratedPool) => TickSource
  /** Logs that change pools. */
  topics: readonly string[]
  /** Key of the pool that a log belongs to. Absent: the emitter. */
  poolOf?: (log: DexLog) => string
  /** The pool after the log; `reread` if the log is not sufficient. */
  apply(tracked: TrackedPool, log: DexLog): TrackedPool | 'reread'
  /** Reads what the logs of a changed pool do not contain, or renews an expired one; `now`: the block's time, Unix seconds. */
  renew?: (readContext: ReadContext, at: string, tracked: TrackedPool, now: number) => Promise<TrackedPool>
  /** Reads what changes without a log, for all pools of the kind in every block. Unchanged pools stay the same objects. */
  refresh?: (
    readContext: ReadContext,
    at: string,
    tracked: readonly TrackedPool[],
    now: number,
  ) => Promise<readonly (TrackedPool | 'reread')[]>
  /** The pool in a block of this time without other changes. The same object if time changes nothing. */
  atTime?: (tracked: TrackedPool, now: number) => TrackedPool
}>
