import type { Dex } from '../../swap/domain/dex.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { Tick } from '../../swap/routing/pools/concentrated.ts'
import type { BlockReader } from './block-reader.ts'
import type { DexLog } from './logs.ts'

/** A tick stays initialized as long as any position ends there, even where they cancel out. */
export type GrossTick = Tick & Readonly<{ gross: bigint }>

/** Ticks outside were not read: there the pool counts as empty. */
export type TickRange = Readonly<{ low: number; high: number }>

/** A pool with what is needed to bring it from block to block. Never changed, only replaced. */
export type TrackedPool = Readonly<{
  pool: Pool
  /** Concentrated kinds: their ticks, without the ends of `range`. */
  ticks?: readonly GrossTick[]
  range?: TickRange
  /** Followed, but not traded on now: paused, or not to be foretold to the unit. */
  idle?: true
  /** Unix seconds. From a block of this time on it is read again, whatever the logs say: time itself changes it. */
  holdsUntil?: number
  /** Millionths that the first swap takes at the second `from` and those after it; none where they could not be foretold. */
  fees?: Readonly<{
    from: number
    ppm: readonly number[]
    /** Slipstream: who was asked for the fee's terms, and what they said. */
    terms?: Readonly<{ factory: string; module: string; said: string }>
  }>
}>

/** What a factory says of a pool. */
export type PoolIdentity = Readonly<{
  id: string
  address: string
  dex: Dex
  /** Lower case, in the pool's order; the native coin is the wrapped one, with `native`. */
  tokens: readonly string[]
  native?: boolean
  feePpm?: number
  tickSpacing?: number
  /** Solidly's two sorts. */
  stable?: boolean
}>

export type ReadContext = Readonly<{ reader: BlockReader; wrapped: string }>

/** How one kind of DEX is found, read and followed. */
export type DexReader = Readonly<{
  /** Who emits the logs of new pools, and which. */
  creation(dex: Dex): Readonly<{ address: string; topic: string }>
  parseCreation(log: DexLog, dex: Dex, wrapped: string): PoolIdentity | null
  /** The pools that `found` may mean, where the log of a new pool does not tell its address. Absent: it is itself. */
  resolve?: (readContext: ReadContext, at: string, parseCreation: readonly PoolIdentity[]) => Promise<readonly PoolIdentity[]>
  /** Asks the factory for the pools of pairs; `tokens` sorted within each pair. Null where the kind has no such question. */
  lookUp:
    | ((
        readContext: ReadContext,
        at: string,
        dex: Dex,
        pairs: readonly (readonly [string, string])[],
      ) => Promise<readonly PoolIdentity[]>)
    | null
  /** State without ticks; null where there is none that can be traded. */
  readBase(readContext: ReadContext, at: string, parseCreation: readonly PoolIdentity[]): Promise<readonly (TrackedPool | null)[]>
  /** The rest of what `readBase` gave; null where the chain does not tell it. */
  readTicks: ((readContext: ReadContext, at: string, tracked: TrackedPool) => Promise<TrackedPool | null>) | null
  /** Logs that change pools. */
  topics: readonly string[]
  /** Id of the pool that a log is of. */
  poolOf(log: DexLog): string
  /** The pool after the log; `reread` where the log does not tell all. */
  apply(tracked: TrackedPool, log: DexLog): TrackedPool | 'reread'
  /** What logs do not tell of a pool that they changed, or that held until now; `now`: the block's time, Unix seconds. */
  renew?: (readContext: ReadContext, at: string, tracked: TrackedPool, now: number) => Promise<TrackedPool>
  /** What changes without a log, of all pools of the kind in every block; the same objects where nothing did. */
  refresh?: (
    readContext: ReadContext,
    at: string,
    tracked: readonly TrackedPool[],
    now: number,
  ) => Promise<readonly (TrackedPool | 'reread')[]>
  /** The pool in a block of this time, where nothing else happened. The same object where time changes nothing. */
  atTime?: (tracked: TrackedPool, now: number) => TrackedPool
}>
