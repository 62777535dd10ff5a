import { LRUCache } from 'lru-cache'
import pMap from 'p-map'
import type { Dex } from '../../swap/domain/dex.ts'
import { isListed, type ListedTokens } from '../pools/rank.ts'
import { admitNew } from './admission.ts'
import { identityOf, keyOf, readBases, readerOf, readWhole, resolveAll } from './dex-readers.ts'
import type { DexLog } from './logs.ts'
import type { PoolSet } from './pool-set.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'
import { INITIALIZE } from './uniswap-v3.ts'

export type Changes = ReadonlyMap<string, TrackedPool | null>

/** Applies logs to the pools, one by one, and collects the changes. */
export type LogFold = Readonly<{
  add(logs: readonly DexLog[]): void
  /** Reads what the logs do not contain, after the block `last`, the last block of the added logs. */
  finish(last: Readonly<{ hash: string; minedAtMs: number }>): Promise<Changes>
}>

export type Follower = Readonly<{
  /** The log topics to request. */
  topics: readonly string[]
  /** The contracts whose logs count: factories, vaults, and the followed and waiting pools with their managers. */
  emitters(): readonly string[]
  fold(): LogFold
  /** Remembers pools that are not initialized, or empty. Their next log triggers a read. */
  watchEmpty(identities: readonly PoolIdentity[]): void
}>

const RENEWED_AT_ONCE = 8
/** Limit of pools that wait for their next log. The oldest are forgotten; a renewed lookup finds them. */
const WAITING_MAX = 5_000

const ADDRESS = /^0x[0-9a-f]{40}$/

type Creation = Readonly<{ dex: Dex; reader: DexReader; address: string; topic: string }>
type FollowContext = Readonly<{
  readContext: ReadContext
  dexes: ReadonlyMap<string, Dex>
  pools: PoolSet
  listing: ListedTokens
  /** The pool of listed tokens that the log creates, or a waiting pool that it changes; or null. */
  parseNewPool(log: DexLog): PoolIdentity | null
  /** Key of the tracked pool that the log changes, or null. */
  findChangedPool(log: DexLog): string | null
  updateWaiting(newPools: readonly PoolIdentity[], changes: Changes): void
}>

export function createFollower(
  readContext: ReadContext,
  dexes: ReadonlyMap<string, Dex>,
  pools: PoolSet,
  listing: ListedTokens,
): Follower {
  const creations: Creation[] = []
  for (const dex of dexes.values()) {
    const reader = readerOf(dex)
    if (reader !== null) creations.push({ dex, reader, ...reader.creation(dex) })
  }
  const kinds = [...new Set(creations.map(({ reader }) => reader))]
  const waiting = new LRUCache<string, PoolIdentity>({ max: WAITING_MAX })
  const topics = [
    ...new Set([...kinds.flatMap((reader) => reader.topics), ...creations.map(({ topic }) => topic), INITIALIZE]),
  ]

  function watchEmpty(identities: readonly PoolIdentity[]): void {
    for (const one of identities) waiting.set(one.id, one)
  }

  /** Any contract can emit these topics: a log counts only if the pool, its manager, vault or factory emitted it. */
  function findWaiting(log: DexLog): PoolIdentity | null {
    if (waiting.size === 0) return null
    for (const reader of kinds) {
      if (log.topics[0] !== INITIALIZE && !reader.topics.includes(log.topics[0] ?? '')) continue
      const one = waiting.peek(reader.poolOf?.(log) ?? log.address)
      if (one && [one.id, one.address, one.dex.factory, one.dex.vault].includes(log.address)) return one
    }
    return null
  }

  const followContext: FollowContext = {
    readContext,
    dexes,
    pools,
    listing,
    parseNewPool(log) {
      const creation = creations.find(({ address, topic }) => address === log.address && topic === log.topics[0])
      const created = creation?.reader.parseCreation(log, creation.dex, readContext.wrapped) ?? null
      return created !== null && isListed(listing, created.tokens) ? created : findWaiting(log)
    },
    findChangedPool(log) {
      for (const reader of kinds) {
        if (!reader.topics.includes(log.topics[0] ?? '')) continue
        const key = reader.poolOf?.(log) ?? log.address
        const pool = pools.get(key)?.pool
        // Any contract can emit these topics: accept only logs of the pool, its manager or its factory.
        const emitters = pool && [pool.address, key, dexes.get(pool.dex)?.factory]
        if (emitters?.includes(log.address)) return key
      }
      return null
    },
    updateWaiting(newPools, changes) {
      for (const { id } of newPools) if (changes.has(id)) waiting.delete(id)
      watchEmpty(newPools.filter(({ id }) => !changes.has(id)))
    },
  }
  function emitters(): readonly string[] {
    const ofDexes = [...dexes.values()].flatMap(({ factory, vault = '' }) => [factory, vault])
    const ofPools = pools.all().flatMap(({ pool }) => [pool.address, keyOf(pool)])
    const ofWaiting = [...waiting.values()].flatMap(({ id, address }) => [id, address])
    const all = [...creations.map(({ address }) => address), ...ofDexes, ...ofPools, ...ofWaiting]
    // The ids of Uniswap V4 are no addresses.
    return [...new Set(all)].filter((one) => ADDRESS.test(one))
  }

  return { topics, emitters, fold: () => createFold(followContext), watchEmpty }
}

function createFold(followContext: FollowContext): LogFold {
  const { readContext, dexes, pools, parseNewPool, findChangedPool } = followContext
  const changes = new Map<string, TrackedPool | null>()
  const toReread = new Set<string>()
  const created = new Map<string, PoolIdentity>()

  function addOne(log: DexLog): void {
    const identity = parseNewPool(log)
    if (identity !== null && pools.get(identity.id) === undefined) {
      created.set(identity.id, identity)
      return
    }
    const key = findChangedPool(log)
    if (key === null || toReread.has(key)) return
    const tracked = changes.get(key) ?? (pools.get(key) as TrackedPool)
    const dex = dexes.get(tracked.pool.dex)
    const next = (dex && readerOf(dex)?.apply(tracked, log)) ?? 'reread'
    if (next === 'reread') toReread.add(key)
    else changes.set(key, next)
  }

  /** Applies the effects of time, and reads what the logs of a changed pool do not contain. */
  async function applyTime(at: string, now: number): Promise<void> {
    const due = new Map<string, () => Promise<TrackedPool>>()
    for (const one of pools.all()) {
      const key = keyOf(one.pool)
      if (toReread.has(key)) continue
      const dex = dexes.get(one.pool.dex)
      const reader = dex && readerOf(dex)
      const changed = changes.get(key)
      const isExpired = one.holdsUntil !== undefined && one.holdsUntil <= now
      const { renew } = reader ?? {}
      if (renew && (changed || isExpired)) due.set(key, () => renew(readContext, at, changed ?? one, now))
      else if (isExpired) toReread.add(key)
      else if (!changed) {
        const later = reader?.atTime?.(one, now)
        if (later && later !== one) changes.set(key, later)
      }
    }
    const renewOne = async ([key, read]: readonly [string, () => Promise<TrackedPool>]) =>
      changes.set(key, await read())
    await pMap(due, renewOne, { concurrency: RENEWED_AT_ONCE })
  }

  return {
    add(logs) {
      for (const log of logs) addOne(log)
    },
    async finish({ hash: at, minedAtMs }) {
      const now = Math.floor(minedAtMs / 1000)
      await applyTime(at, now)
      await refreshAll({ readContext, dexes, pools }, changes, toReread, at, now)
      const existing = [...toReread].flatMap((key) => identityOf(pools.get(key) as TrackedPool, dexes) ?? [])
      const resolved = await resolveAll(readContext, at, [...created.values()])
      const newPools = resolved.filter(({ tokens }) => isListed(followContext.listing, tokens))
      if (existing.length + newPools.length === 0) return changes
      await readPools(followContext, at, changes, { existing, newPools })
      return changes
    },
  }
}

/** Reads these pools into the changes. Of new pools those that are admitted; the others of listed tokens wait for their next log. */
async function readPools(
  { readContext, dexes, pools, listing, updateWaiting }: FollowContext,
  at: string,
  changes: Map<string, TrackedPool | null>,
  { existing, newPools }: Readonly<Record<'existing' | 'newPools', readonly PoolIdentity[]>>,
): Promise<void> {
  // Apart from each other: no contract of a new pool shares a batch with a pool that is used.
  const bases = [...(await readBases(readContext, at, existing)), ...(await readBases(readContext, at, newPools))]
  const existingIds = new Set(existing.map(({ id }) => id))
  const isNew = ({ pool }: TrackedPool) => !existingIds.has(keyOf(pool))
  // A pool that no longer answers is dropped.
  for (const id of existingIds) changes.set(id, null)
  const reread = bases.filter((base) => !isNew(base))
  const admitted = await admitNew({ readContext, at, dexes, listing }, bases.filter(isNew), pools.all())
  for (const tracked of [...(await readWhole(readContext, at, reread, dexes)), ...admitted])
    changes.set(keyOf(tracked.pool), tracked)
  const unlisted = new Set(bases.flatMap(({ pool }) => (isListed(listing, pool.tokens) ? [] : [keyOf(pool)])))
  const listedPools = newPools.filter(({ id }) => !unlisted.has(id))
  updateWaiting(listedPools, changes)
}

/** Refreshes the pools of kinds that change without a log. */
async function refreshAll(
  { readContext, dexes, pools }: Pick<FollowContext, 'readContext' | 'dexes' | 'pools'>,
  changes: Map<string, TrackedPool | null>,
  toReread: Set<string>,
  at: string,
  now: number,
): Promise<void> {
  const current = pools.all().filter(({ pool }) => !toReread.has(keyOf(pool)))
  for (const [dex, some] of Map.groupBy(current, ({ pool }) => dexes.get(pool.dex))) {
    const refresh = dex && readerOf(dex)?.refresh
    if (!refresh) continue
    const states = some.map((one) => changes.get(keyOf(one.pool)) ?? one)
    for (const [place, next] of (await refresh(readContext, at, states, now)).entries()) {
      const state = states[place] as TrackedPool
      if (next === 'reread') toReread.add(keyOf(state.pool))
      else if (next !== state) changes.set(keyOf(state.pool), next)
    }
  }
}
