/* Follows pools by what the checkpoints say about their objects, so that a pool that trades all the time is read, too. */
import { present } from '../../lib/assert.ts'
import type { Dex } from '../../swap/domain/dex.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { ObjectChanges, SuiNode } from './node.ts'
import { applyUpdate, type CacheUpdate, findUpdate } from './pool-cache.ts'
import {
  cachedPool,
  checkAnswers,
  compute,
  createEntry,
  type Entry,
  load,
  needsLoad,
  type PoolList,
  refuse,
  type Turn,
  unfollow,
} from './pool-entry.ts'

const CHECKPOINTS_AT_ONCE = 16
/** After more, reading all is cheaper. */
const CHECKPOINTS_MAX = 64
const LOADS_AT_ONCE = 4
/** Loads of a turn begin within this time. The other pools must not wait for the rest. */
const LOADS_MS = 10_000
/** Objects of a pool that are compared at once. */
const COMPARED_MAX = 200

/** Null if the node does not have them all, or if they are too many. */
async function readTransactions(node: SuiNode, from: number, to: number): Promise<readonly ObjectChanges[] | null> {
  if (to - from > CHECKPOINTS_MAX) return null
  const transactions: ObjectChanges[] = []
  try {
    for (let height = from + 1; height <= to; height += CHECKPOINTS_AT_ONCE) {
      const count = Math.min(CHECKPOINTS_AT_ONCE, to - height + 1)
      const read = Array.from({ length: count }, (_, index) => node.readChanges(height + index))
      for (const changes of await Promise.all(read)) {
        if (changes === null) return null
        transactions.push(...changes)
      }
    }
  } catch (error) {
    await checkAnswers(node, error)
    return null
  }
  return transactions
}

/** Brings the followed pools to the newest checkpoint. Those that it cannot bring there are not followed any more. */
async function followChanges(entries: readonly Entry[], node: SuiNode, transactions: readonly ObjectChanges[] | null) {
  const updates = new Map<Entry, CacheUpdate>()
  for (const entry of entries) {
    const { id, followed } = entry
    if (followed === null) continue
    const update = transactions === null ? null : findUpdate(followed.cache, cachedPool(followed, id), transactions)
    if (update === null) unfollow(entry)
    else if (update.changes.length > 0) updates.set(entry, update)
  }
  const keyOf = ({ id, version }: Readonly<{ id: string; version: bigint }>) => `${id} ${version}`
  const written = [...updates.values()].flatMap(({ changes }) => changes.filter(({ isDeleted }) => !isDeleted))
  const versions = [...new Map(written.map((change) => [keyOf(change), change])).values()]
  const objects = await node.readVersions(versions).catch(async (error: unknown) => {
    await checkAnswers(node, error)
    return []
  })
  const found = new Map(versions.map((version, index) => [keyOf(version), objects[index] ?? null]))
  for (const [entry, update] of updates) {
    const { cache } = present(entry.followed, 'a followed pool')
    entry.isChanged = true
    if (!applyUpdate(cache, update, (change) => found.get(keyOf(change)) ?? null)) unfollow(entry)
  }
}

/** Whether another node has the same objects in the same versions. Versions that it does not have are not compared. */
async function isSameAt(node: SuiNode, { id, followed }: Entry): Promise<boolean> {
  if (followed === null) return true
  const { objects, tables } = followed.cache
  const fields = [...tables.values()].flatMap((table) => [...table.values()])
  const others = [...objects.values(), ...fields].flatMap((object) =>
    object === null || object.id === id ? [] : object,
  )
  const compared = [cachedPool(followed, id), ...others].slice(0, COMPARED_MAX)
  const found = await node.readVersions(compared)
  return compared.every(({ contents }, index) => {
    const other = found[index] ?? null
    return other === null || Buffer.compare(other.contents, contents) === 0
  })
}

type Options = Readonly<{
  lists: readonly PoolList[]
  /** Age of a reading beyond which its pool is left out. */
  staleMs: number
  now(): number
}>

/** Pools by their ids, after the newest checkpoint, or later by transactions that the next one contains. */
export function createPoolFollower({ lists, staleMs, now }: Options) {
  const entries = lists.flatMap((list) => (list.dex.pools ?? []).map((id) => createEntry(list, id)))
  /** The last checkpoint whose changes the followed pools contain. */
  let height: number | null = null
  let compared = 0
  return {
    readNewest: async (node: SuiNode): Promise<Turn['newest']> => {
      const ids = entries.map(({ id }) => id)
      const objects = await node.readObjects(ids)
      return new Map(ids.map((id, index) => [id, objects[index] ?? null]))
    },
    async advance(read: Omit<Turn, 'now'>): Promise<void> {
      const turn = { ...read, now }
      const { node, newest, tip } = turn
      await followChanges(entries, node, height === null ? [] : await readTransactions(node, height, tip.height))
      height = tip.height
      for (const entry of entries) {
        if (newest.get(entry.id) === null) refuse(entry, `${entry.id} does not exist`, 0)
        await compute(entry, turn)
      }
      const due = entries.filter((entry) => needsLoad(entry, turn))
      const untilMs = now() + LOADS_MS
      for (let at = 0; at < due.length && now() < untilMs; at += LOADS_AT_ONCE)
        await Promise.all(due.slice(at, at + LOADS_AT_ONCE).map((entry) => load(entry, turn)))
    },
    /** Compares the next pool with what another node says. Returns whether they contradict each other: no route uses the pool then. */
    async compareNext(other: SuiNode): Promise<boolean> {
      const entry = entries[compared++ % entries.length]
      if (entry === undefined || (await isSameAt(other, entry))) return false
      refuse(entry, `the nodes contradict each other about ${entry.id}`, now())
      return true
    },
    /** Whether no pool waits for the next checkpoint, or for its turn. */
    isRead: () =>
      entries.every(({ followed, current, fault }) => (followed === null ? fault !== null : current !== null)),
    pools: (): readonly Pool[] => {
      const oldestMs = now() - staleMs
      return entries.flatMap(({ current }) =>
        current !== null && current.readAtMs >= oldestMs ? (current.pool ?? []) : [],
      )
    },
    faultsOf: (dex: Dex): readonly string[] =>
      entries.flatMap((entry) => (entry.dex === dex ? (entry.fault ?? entry.current?.fault ?? []) : [])),
  }
}
