import { expect, test } from 'vitest'
import type { ObjectChange, ObjectChanges, SuiObject } from './node.ts'
import { applyUpdate, findUpdate, type PoolCache } from './pool-cache.ts'

const object = (id: string, version: bigint): SuiObject => ({
  ...{ id, version, type: '', contents: new Uint8Array(), sharedVersion: null },
})
const written = (id: string, before: bigint | null, parent: string | null = null): ObjectChange => ({
  ...{ id, before, parent, isDeleted: false },
})
const deleted = (id: string, before: bigint, parent: string): ObjectChange => ({
  ...{ id, before, parent, isDeleted: true },
})
const at = (version: bigint, ...objects: readonly ObjectChange[]): ObjectChanges => ({ version, objects })

/** A pool of version 5 with two ticks, and settings. */
const createCache = (): PoolCache => ({
  objects: new Map([
    ['pool', object('pool', 5n)],
    ['config', object('config', 2n)],
    ['missing', null],
  ]),
  tables: new Map([
    [
      'ticks',
      new Map([
        ['low', object('low', 3n)],
        ['high', object('high', 5n)],
      ]),
    ],
  ]),
})
const versionsOf = ({ objects, tables }: PoolCache) => ({
  ...Object.fromEntries([...objects].map(([id, one]) => [id, one?.version ?? null])),
  ticks: Object.fromEntries([...(tables.get('ticks') ?? [])].map(([id, one]) => [id, one.version])),
})

function follow(cache: PoolCache, ...transactions: readonly ObjectChanges[]) {
  const update = findUpdate(cache, { id: 'pool', version: cache.objects.get('pool')?.version ?? 0n }, transactions)
  if (update === null) return null
  expect(applyUpdate(cache, update, ({ id, version }) => object(id, version))).toBe(true)
  return versionsOf(cache)
}

test('trades and positions change the pool, add ticks and remove them', () => {
  const trade = at(6n, written('pool', 5n), written('low', 3n, 'ticks'), written('gas', 1n))
  const position = at(9n, written('pool', 6n), written('new', null, 'ticks'), deleted('high', 5n, 'ticks'))
  const settings = at(30n, written('config', 2n), written('missing', null), written('tick', null, 'other ticks'))
  expect(follow(createCache(), trade, position, settings)).toEqual({
    ...{ pool: 9n, config: 30n, missing: 30n },
    ticks: { low: 6n, new: 9n },
  })
})

test('what was read after a transaction is not taken back by it', () => {
  // The tick was removed before the pool was read, and one was read that a later transaction changed.
  const earlier = at(4n, written('pool', 3n), written('removed', null, 'ticks'), written('low', 2n, 'ticks'))
  const known = at(5n, written('pool', 4n), deleted('removed', 4n, 'ticks'), written('high', 4n, 'ticks'))
  expect(follow(createCache(), earlier, known)).toEqual(versionsOf(createCache()))
  const cache = createCache()
  cache.tables.get('ticks')?.set('low', object('low', 8n))
  const [next, after] = [at(7n, written('pool', 5n), written('low', 3n, 'ticks')), at(8n, written('pool', 7n))]
  expect(follow(cache, next, after)).toMatchObject({ pool: 8n, ticks: { low: 8n } })
})

test('a pool whose versions do not follow each other is not followed', () => {
  expect(follow(createCache(), at(7n, written('pool', 6n)))).toBeNull()
  expect(follow(createCache(), at(6n, written('pool', 5n)), at(9n, written('pool', 8n)))).toBeNull()
  expect(follow(createCache(), at(6n, deleted('pool', 5n, '')))).toBeNull()
})

test('a version that no node has any more makes the cache useless', () => {
  const cache = createCache()
  const update = findUpdate(cache, { id: 'pool', version: 5n }, [at(6n, written('pool', 5n))])
  expect(update?.version).toBe(6n)
  expect(applyUpdate(cache, update ?? { version: 0n, changes: [] }, () => null)).toBe(false)
})
