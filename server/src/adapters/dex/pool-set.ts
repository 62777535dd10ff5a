import type { BlockRef } from '../../core/ports/chain.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { keyOf } from './dex-readers.ts'
import { restoreTicks, type Slim, slim } from './ticks.ts'
import type { TrackedPool } from './tracked-pool.ts'

/** The block before, and what to put back for each pool that the block changed; undefined: it was not there. */
type Undo = Readonly<{ before: BlockRef; replaced: Map<string, Slim | undefined> }>

/** Pools as they are after one block, with the way back for as many blocks as are kept. */
export type PoolSet = Readonly<{
  block(): BlockRef | null
  get(key: string): TrackedPool | undefined
  size(): number
  all(): readonly TrackedPool[]
  /** What can be traded on. The same array until a pool changes. */
  pools(): readonly Pool[]
  /** What a block made of the pools that it changed; null where a pool cannot be traded any more. */
  append(block: BlockRef, changes: ReadonlyMap<string, TrackedPool | null>): void
  /** Pools found besides, as they are after the present block. Who goes back forgets them: what they were is not known. */
  add(found: readonly TrackedPool[]): void
  /** No longer followed. */
  drop(keys: Iterable<string>): void
  /** Repairs the state at the present block; the way back ends here. */
  repair(changes: ReadonlyMap<string, TrackedPool>): void
  /** Back by one block; false where the way back has ended. */
  undo(): boolean
  /** Ends the way back here: below, nothing is taken back any more. */
  clearUndo(): void
  /** Everything anew. */
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
  const kept = (key: string): Slim | undefined => {
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
      const replaced = new Map([...changes.keys()].map((key) => [key, kept(key)] as const))
      for (const [key, state] of changes) put(key, state)
      if (block !== null) undos.push({ before: block, replaced })
      if (undos.length > depth) undos.shift()
      block = next
    },
    add(found) {
      const last = undos.at(-1)
      for (const state of found) {
        const key = keyOf(state.pool)
        if (last !== undefined && !last.replaced.has(key)) last.replaced.set(key, undefined)
        put(key, state)
      }
    },
    drop(keys) {
      for (const key of keys) put(key, undefined)
    },
    repair(changes) {
      for (const [key, state] of changes) put(key, state)
      // What the states before were is in doubt, too: who goes back reads all again.
      undos = []
    },
    undo() {
      const last = undos.pop()
      if (last === undefined) return false
      for (const [key, state] of last.replaced) put(key, state && restoreTicks(state))
      block = last.before
      return true
    },
    forget() {
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
