/*
 * The objects from which a pool was read, kept current by what transactions changed.
 *
 * Every transaction that changes a pool or its fields gives the pool and these fields one new version, above all that they had. So the
 * versions tell which state an object belongs to, and a pool whose changes follow each other without a gap is complete.
 */
import type { ObjectChanges, SuiNode, SuiObject } from './node.ts'
import { FIELDS_MAX } from './node.ts'
import type { PoolNode } from './read-pools.ts'

export type PoolCache = Readonly<{
  /** By id; null for an object that does not exist. */
  objects: Map<string, SuiObject | null>
  /** The fields of an object, by its id. */
  tables: Map<string, Map<string, SuiObject>>
}>

/** A reader asks for an object that was not read before. */
export class NotCached extends Error {}

/** Reads of a node; what they return stays in the cache. */
export const readInto = (cache: PoolCache, node: SuiNode): PoolNode => ({
  async readObjects(ids) {
    const objects = await node.readObjects(ids)
    for (const [index, id] of ids.entries()) cache.objects.set(id, objects[index] ?? null)
    return objects
  },
  async listFields(parent, limits) {
    const fields = await node.listFields(parent, limits)
    cache.tables.set(parent, new Map(fields.map((field) => [field.id, field])))
    return fields
  },
  callFunction: node.callFunction,
})

/** The same reads, of the cache. */
export const readFrom = (cache: PoolCache, node: SuiNode): PoolNode => ({
  async readObjects(ids) {
    return ids.map((id) => {
      const object = cache.objects.get(id)
      if (object === undefined) throw new NotCached(id)
      return object
    })
  },
  async listFields(parent) {
    const table = cache.tables.get(parent)
    if (table === undefined) throw new NotCached(parent)
    return [...table.values()]
  },
  callFunction: node.callFunction,
})

type Change = Readonly<{ id: string; version: bigint; parent: string | null; isDeleted: boolean }>

/** The last change of each object of a cache, and the version of the pool after them. */
export type CacheUpdate = Readonly<{ version: bigint; changes: readonly Change[] }>

/**
 * Finds what transactions changed in a cache whose pool has a version. Those up to this version are contained already. Null if the first one
 * after it began from another version: something between them is missing.
 */
export function findUpdate(
  cache: PoolCache,
  pool: Pick<SuiObject, 'id' | 'version'>,
  transactions: readonly ObjectChanges[],
): CacheUpdate | null {
  let { version } = pool
  const changes = new Map<string, Change>()
  for (const transaction of transactions) {
    const own = transaction.objects.find(({ id }) => id === pool.id)
    if (own !== undefined && transaction.version <= version) continue
    if (own !== undefined && (own.before !== version || own.isDeleted)) return null
    if (own !== undefined) ({ version } = transaction)
    for (const { id, parent, isDeleted } of transaction.objects) {
      const table = parent === null ? undefined : cache.tables.get(parent)
      const known = cache.objects.get(id) ?? table?.get(id)
      const isNewer = known === undefined || known === null || known.version < transaction.version
      if (isNewer && (table !== undefined || cache.objects.has(id)))
        changes.set(id, { id, parent, isDeleted, version: transaction.version })
    }
  }
  return { version, changes: [...changes.values()] }
}

/** Puts changed objects into the cache. Returns false if one could not be read: the cache is then useless. */
export function applyUpdate(
  { objects, tables }: PoolCache,
  { changes }: CacheUpdate,
  read: (change: Change) => SuiObject | null,
): boolean {
  for (const change of changes) {
    const { id, parent, isDeleted } = change
    const object = isDeleted ? null : read(change)
    if (object === null && !isDeleted) return false
    if (objects.has(id)) objects.set(id, object)
    const table = parent === null ? undefined : tables.get(parent)
    if (object === null) table?.delete(id)
    else table?.set(id, object)
  }
  return [...tables.values()].every(({ size }) => size <= FIELDS_MAX)
}
