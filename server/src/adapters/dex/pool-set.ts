import type { BlockRef } from '../../core/ports/chain.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { keyOf } from './dex-readers.ts'
import { restoreTicks, type Slim, slim } from './ticks.ts'
import type { TrackedPool } from './tracked-pool.ts'

/** The previous block and the previous state of each changed pool; undefined if the pool was not tracked. */
type Undo = Readonly<{ before: BlockRef; replaced: Map<string, Slim | undefined> }>

/** The pools after one block, with undo data for the last blocks. */
export type PoolSet = Readonly<{
  block(): BlockRef | null
  get(key: string): TrackedPool | undefined
  size(): number
  all(): readonly TrackedPool[]
  /** The tradable pools. The same array until a pool changes. */
  pools(): readonly Pool[]
  /** Applies the changes of a block; null removes a pool. */
  append(block: BlockRef, changes: ReadonlyMap<string, TrackedPool | null>): void
  /** Adds pools read after the present block. A rollback removes them, because their earlier state is unknown. */
  add(added: readonly TrackedPool[]): void
  /** Stops tracking these pools. */
  drop(keys: Iterable<string>): void
  /** Replaces pools by the same ones with fewer ticks. The undo data stays valid. */
  shorten(states: readonly TrackedPool[]): void
  /** Replaces states at the present block and clears the undo data. */
  repair(changes: ReadonlyMap<string, TrackedPool>): void
  /** Rolls back one block; false without undo data. */
  undo(): boolean
  /** Clears the undo data, because the present block is final. */
  clearUndo(): void
  /** Replaces everything. */
  reset(block: BlockRef, tracked: readonly TrackedPool[]): void
}>

export function createPoolSet(depth: number): PoolSet {
  const tracked = new Map<string, TrackedPool>()
  let block: BlockRef | null = null
  let undos: Undo[] = []
  let pools: readonly Pool[] | null = null

  const put = (key: string, state: TrackedPool | null | undefined) => {
    if (state === undefined || state === null) tracked.delete(key)
    else tracked.set(key, state)
    pools = null
  }
  const previousState = (key: string): Slim | undefined => {
    const state = tracked.get(key)
    return state === undefined ? undefined : slim(state)
  }

  return {
    block: () => block,
    get: (key) => tracked.get(key),
    size: () => tracked.size,
    all: () => [...tracked.values()],
    pools() {
      pools ??= [...tracked.values()].flatMap(({ pool, idle }) => (idle ? [] : [pool]))
      return pools
    },
    append(next, changes) {
      const replaced = new Map([...changes.keys()].map((key) => [key, previousState(key)] as const))
      for (const [key, state] of changes) put(key, state)
      if (block !== null) undos.push({ before: block, replaced })
      if (undos.length > depth) undos.shift()
      block = next
    },
    add(added) {
      const last = undos.at(-1)
      for (const state of added) {
        const key = keyOf(state.pool)
        if (last !== undefined && !last.replaced.has(key)) last.replaced.set(key, undefined)
        put(key, state)
      }
    },
    drop(keys) {
      for (const key of keys) put(key, undefined)
    },
    shorten(states) {
      for (const state of states) put(keyOf(state.pool), state)
    },
    repair(changes) {
      for (const [key, state] of changes) put(key, state)
      // The earlier states may be wrong, too: a rollback below this block reads everything again.
      undos = []
    },
    undo() {
      const last = undos.pop()
      if (last === undefined) return false
      for (const [key, state] of last.replaced) put(key, state && restoreTicks(state))
      block = last.before
      return true
    },
    clearUndo() {
      undos = []
    },
    reset(next, states) {
      tracked.clear()
      undos = []
      block = next
      for (const state of states) put(keyOf(state.pool), state)
      pools = null
    },
  }
}
