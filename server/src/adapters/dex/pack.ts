import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { DepthHistory } from '../pools/depth-history.ts'
import { restoreTicks, type Slim, slim } from './ticks.ts'
import type { TrackedPool } from './tracked-pool.ts'

/** Increase with every change of the stored format; older snapshots are discarded. */
const VERSION = 5
const UNPACKED_MAX = 128 * 1024 * 1024

type Depths = ReturnType<DepthHistory['list']>
type Packed = Readonly<{ tracked: readonly TrackedPool[]; depths: Depths }>
/** `tracked`: null if the snapshot is of another origin. */
type Unpacked = Readonly<{ tracked: readonly TrackedPool[] | null; depths: Depths }>

/** Pools as compressed JSON, bigints as text with the suffix n. `origin` identifies the DEXes and tokens of the snapshot. */
export async function pack({ tracked, depths }: Packed, origin: string): Promise<Uint8Array> {
  const snapshot = { version: VERSION, origin, depths, tracked: tracked.map(slim) }
  const text = JSON.stringify(snapshot, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
  return promisify(gzip)(text, { level: 1 })
}

/** Null for another version. The depths of another origin stay comparable: they show what can no longer be read. */
export async function unpack(packed: Uint8Array, origin: string): Promise<Unpacked | null> {
  const text = (await promisify(gunzip)(packed, { maxOutputLength: UNPACKED_MAX })).toString()
  const snapshot = JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as { version: number; origin: string; depths: Depths; tracked: readonly Slim[] }
  if (snapshot.version !== VERSION) return null
  const tracked = snapshot.origin === origin ? snapshot.tracked.map(restoreTicks) : null
  return { tracked, depths: snapshot.depths }
}
