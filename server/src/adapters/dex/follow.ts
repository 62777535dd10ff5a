import pMap from 'p-map'
import type { Dex } from '../../swap/domain/dex.ts'
import { identityOf, keyOf, readBases, readerOf, readWhole, resolveAll } from './dex-readers.ts'
import type { DexLog } from './logs.ts'
import type { PoolSet } from './pool-set.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'
import { INITIALIZE } from './uniswap-v3.ts'

export type Changes = ReadonlyMap<string, TrackedPool | null>

/** What logs make of the pools, log by log: only the changes are kept. */
export type LogFold = Readonly<{
  add(logs: readonly DexLog[]): void
  /** Reads what logs don't tell, as it is after the block `last`, which is the last that logs were added of. */
  finish(last: Readonly<{ hash: string; minedAtMs: number }>): Promise<Changes>
}>

export type Follower = Readonly<{
  /** All that is asked for of a block. */
  topics: readonly string[]
  fold(): LogFold
  /** Pools that were made and cannot be traded yet: they are looked at again when they begin. */
  watchUninitialized(found: readonly PoolIdentity[]): void
}>

const RENEWED_AT_ONCE = 8
/** V3 pools that were made and not yet begun; more are forgotten. */
const WAITING_MAX = 5_000

type Creation = Readonly<{ dex: Dex; reader: DexReader; address: string; topic: string }>
type FollowContext = Readonly<{
  readContext: ReadContext
  dexes: ReadonlyMap<string, Dex>
  pools: PoolSet
  /** A pool that begins with this log, or null. */
  begun(log: DexLog): PoolIdentity | null
  /** Key of the pool that the log changes, if we have it. */
  touched(log: DexLog): string | null
  settle(begins: readonly PoolIdentity[], changes: Changes): void
}>

export function createFollower(readContext: ReadContext, dexes: ReadonlyMap<string, Dex>, pools: PoolSet): Follower {
  const creations: Creation[] = []
  for (const dex of dexes.values()) {
    const reader = readerOf(dex)
    if (reader !== null) creations.push({ dex, reader, ...reader.creation(dex) })
  }
  const kinds = [...new Set(creations.map(({ reader }) => reader))]
  const waiting = new Map<string, PoolIdentity>()
  const topics = [
    ...new Set([...kinds.flatMap((reader) => reader.topics), ...creations.map(({ topic }) => topic), INITIALIZE]),
  ]

  function wait(found: readonly PoolIdentity[]): void {
    for (const one of found) if (waiting.size < WAITING_MAX) waiting.set(one.id, one)
  }

  const followed: FollowContext = {
    readContext,
    dexes,
    pools,
    begun(log) {
      if (log.topics[0] === INITIALIZE) return waiting.get(log.address) ?? null
      const creation = creations.find(({ address, topic }) => address === log.address && topic === log.topics[0])
      return creation?.reader.parseCreation(log, creation.dex, readContext.wrapped) ?? null
    },
    touched(log) {
      for (const reader of kinds) {
        if (!reader.topics.includes(log.topics[0] ?? '')) continue
        const key = reader.poolOf(log)
        const pool = pools.get(key)?.pool
        // Anybody can write a log: it counts of the pool, its manager or its factory alone.
        const writers = pool && [pool.address, key, dexes.get(pool.dex)?.factory]
        if (writers?.includes(log.address)) return key
      }
      return null
    },
    settle(begins, changes) {
      for (const { id } of begins) if (changes.has(id)) waiting.delete(id)
      wait(begins.filter(({ id }) => !changes.has(id)))
    },
  }
  return { topics, fold: () => createFold(followed), wait }
}

function createFold({ readContext, dexes, pools, begun, touched, settle }: FollowContext): LogFold {
  const changes = new Map<string, TrackedPool | null>()
  const again = new Set<string>()
  const fresh = new Map<string, PoolIdentity>()

  function addOne(log: DexLog): void {
    const found = begun(log)
    if (found !== null && pools.get(found.id) === undefined) {
      fresh.set(found.id, found)
      return
    }
    const key = touched(log)
    if (key === null || again.has(key)) return
    const tracked = changes.get(key) ?? (pools.get(key) as TrackedPool)
    const dex = dexes.get(tracked.pool.dex)
    const next = (dex && readerOf(dex)?.apply(tracked, log)) ?? 'reread'
    if (next === 'reread') again.add(key)
    else changes.set(key, next)
  }

  /** What time alone does, and what logs do not tell of what they changed. */
  async function passTime(at: string, now: number): Promise<void> {
    const due = new Map<string, () => Promise<TrackedPool>>()
    for (const one of pools.all()) {
      const key = keyOf(one.pool)
      if (again.has(key)) continue
      const dex = dexes.get(one.pool.dex)
      const reader = dex && readerOf(dex)
      const changed = changes.get(key)
      const isOver = one.holdsUntil !== undefined && one.holdsUntil <= now
      const { renew } = reader ?? {}
      if (renew && (changed || isOver)) due.set(key, () => renew(readContext, at, changed ?? one, now))
      else if (isOver) again.add(key)
      else if (!changed) {
        const later = reader?.atTime?.(one, now)
        if (later && later !== one) changes.set(key, later)
      }
    }
    const renewOne = async ([key, read]: readonly [string, () => Promise<TrackedPool>]) => changes.set(key, await read())
    await pMap(due, renewOne, { concurrency: RENEWED_AT_ONCE })
  }

  return {
    add(logs) {
      for (const log of logs) addOne(log)
    },
    async finish({ hash: at, minedAtMs }) {
      const now = Math.floor(minedAtMs / 1000)
      await passTime(at, now)
      await refreshAll({ readContext, dexes, pools }, changes, again, at, now)
      const known = [...again].flatMap((key) => identityOf(pools.get(key) as TrackedPool, dexes) ?? [])
      const begins = await resolveAll(readContext, at, [...fresh.values()])
      if (known.length + begins.length === 0) return changes
      const bases = await readBases(readContext, at, [...known, ...begins])
      // Whoever does not answer any more is not traded on what he said before.
      for (const { id } of known) changes.set(id, null)
      for (const tracked of await readWhole(readContext, at, bases, dexes)) changes.set(keyOf(tracked.pool), tracked)
      settle(begins, changes)
      return changes
    },
  }
}

/** What changes without a log, of the pools of each kind that knows such. */
async function refreshAll(
  { readContext, dexes, pools }: Pick<FollowContext, 'readContext' | 'dexes' | 'pools'>,
  changes: Map<string, TrackedPool | null>,
  again: Set<string>,
  at: string,
  now: number,
): Promise<void> {
  const known = pools.all().filter(({ pool }) => !again.has(keyOf(pool)))
  for (const [dex, some] of Map.groupBy(known, ({ pool }) => dexes.get(pool.dex))) {
    const refresh = dex && readerOf(dex)?.refresh
    if (!refresh) continue
    const states = some.map((one) => changes.get(keyOf(one.pool)) ?? one)
    for (const [place, next] of (await refresh(readContext, at, states, now)).entries()) {
      const state = states[place] as TrackedPool
      if (next === 'reread') again.add(keyOf(state.pool))
      else if (next !== state) changes.set(keyOf(state.pool), next)
    }
  }
}
