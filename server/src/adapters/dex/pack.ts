import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { restoreTicks, type Slim, slim } from './ticks.ts'
import type { TrackedPool } from './tracked-pool.ts'

/** Raised with every change of what is kept: older snapshots are thrown away. */
const VERSION = 3
const UNPACKED_MAX = 128 * 1024 * 1024

/** Pools as compressed JSON, bigints as text with an n at the end. `origin`: of which DEXes and tokens they are all. */
export async function pack(tracked: readonly TrackedPool[], origin: string): Promise<Uint8Array> {
  const text = JSON.stringify({ version: VERSION, origin, tracked: tracked.map(slim) }, (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )
  return promisify(gzip)(text, { level: 1 })
}

/** Null where it is of another version or origin. */
export async function unpack(packed: Uint8Array, origin: string): Promise<readonly TrackedPool[] | null> {
  const text = (await promisify(gunzip)(packed, { maxOutputLength: UNPACKED_MAX })).toString()
  const read = JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as { version: number; origin: string; tracked: readonly Slim[] }
  return read.version === VERSION && read.origin === origin ? read.tracked.map(restoreTicks) : null
}
