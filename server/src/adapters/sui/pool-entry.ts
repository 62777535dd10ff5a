/* One pool that is followed: how it is read, computed and left out. */
import { AppError } from '../../core/domain/errors.ts'
import { present } from '../../lib/assert.ts'
import type { Dex } from '../../swap/domain/dex.ts'
import type { Checkpoint, SuiNode, SuiObject } from './node.ts'
import { NotCached, type PoolCache, readFrom, readInto } from './pool-cache.ts'
import type { PoolReader, PoolReading } from './read-pools.ts'

export type PoolList = Readonly<{ dex: Dex; reader: PoolReader }>

/** What is known of the chain in a turn. */
export type Turn = Readonly<{
  node: SuiNode
  /** The newest objects of the pools by id, read before `tip`; null for one that does not exist. */
  newest: ReadonlyMap<string, SuiObject | null>
  tip: Checkpoint
  /** MIST per computation unit. */
  gasPrice: bigint
  now(): number
}>

/** All that a pool is computed from. It is complete once the pool has reached the version that it had when the last page was read. */
export type Followed = Readonly<{ cache: PoolCache; completeAt: bigint }>
type Current = PoolReading & Readonly<{ epoch: number; gasPrice: bigint; readAtMs: number }>

export type Entry = PoolList & {
  readonly id: string
  followed: Followed | null
  /** Whether objects changed since the pool was computed. */
  isChanged: boolean
  current: Current | null
  fault: string | null
  /** Milliseconds since 1970. */
  loadAfterMs: number
}

/** Between loads of a pool that moved during the last one or was not answered, and of one that cannot be read. */
const MOVED_MS = 2_000
const UNREADABLE_MS = 60_000

export const createEntry = ({ dex, reader }: PoolList, id: string): Entry => ({
  ...{ id, dex, reader, followed: null, isChanged: false, current: null, fault: null, loadAfterMs: 0 },
})

export const cachedPool = ({ cache }: Followed, id: string): SuiObject =>
  present(cache.objects.get(id), `the pool ${id}`)

const isComplete = (followed: Followed, id: string): boolean => cachedPool(followed, id).version >= followed.completeAt

const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === 'NETWORK_UNAVAILABLE'

/** Throws if the node answers nothing at all, so that another one is asked. */
export async function checkAnswers(node: SuiNode, error: unknown): Promise<void> {
  if (isUnavailable(error)) await node.readTip()
}

/** The pool is read as a whole again, at once. */
export function unfollow(entry: Entry): void {
  entry.followed = null
  entry.loadAfterMs = 0
}

/** No route uses the pool until it is read as a whole again, after a while. */
export function refuse(entry: Entry, fault: string, nowMs: number): void {
  Object.assign(entry, { fault, followed: null, current: null, loadAfterMs: nowMs + UNREADABLE_MS })
}

async function fail(entry: Entry, { node, now }: Turn, error: unknown): Promise<void> {
  await checkAnswers(node, error)
  entry.fault = `${entry.id} cannot be read: ${(error as Error).message}`
  entry.loadAfterMs = now() + (isUnavailable(error) ? MOVED_MS : UNREADABLE_MS)
}

function publish(entry: Entry, reading: PoolReading, { tip, gasPrice, now }: Turn): void {
  entry.current = { ...reading, epoch: tip.epoch, gasPrice, readAtMs: now() }
  entry.isChanged = false
  entry.fault = null
}

/** Computes a followed pool again if something changed that it depends on. */
export async function compute(entry: Entry, turn: Turn): Promise<void> {
  const { id, dex, reader, followed, current, isChanged } = entry
  if (followed === null || !isComplete(followed, id)) return
  const { node, tip, gasPrice } = turn
  const isSame =
    !isChanged && current?.epoch === tip.epoch && current.gasPrice === gasPrice && tip.atMs <= current.validUntilMs
  try {
    const read = { node: readFrom(followed.cache, node), dex, tip, gasPrice }
    publish(entry, isSame ? current : await reader(read, cachedPool(followed, id)), turn)
  } catch (error) {
    unfollow(entry)
    if (!(error instanceof NotCached)) await fail(entry, turn, error)
  }
}

/** Whether the node has a newer pool than the checkpoints have shown, or none is followed. */
export function needsLoad({ id, followed, loadAfterMs }: Entry, { newest, now }: Turn): boolean {
  const version = newest.get(id)?.version
  if (version === undefined || now() < loadAfterMs) return false
  return followed === null || version > cachedPool(followed, id).version
}

/** Reads the pool and all that belongs to it. If it moves meanwhile, the next checkpoints complete what was read. */
export async function load(entry: Entry, turn: Turn): Promise<void> {
  const { id, dex, reader } = entry
  const { node, tip, gasPrice, now } = turn
  try {
    const [object = null] = await node.readObjects([id])
    if (object === null) return
    const cache: PoolCache = { objects: new Map([[id, object]]), tables: new Map() }
    const reading = await reader({ node: readInto(cache, node), dex, tip, gasPrice }, object)
    const [after] = await node.readObjects([id])
    const followed = { cache, completeAt: after?.version ?? object.version }
    const isUsed = isComplete(followed, id) || entry.followed === null
    if (isUsed) entry.followed = followed
    else entry.loadAfterMs = now() + MOVED_MS
    if (isComplete(followed, id)) publish(entry, reading, turn)
  } catch (error) {
    await fail(entry, turn, error)
  }
}
