import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { restoreTicks, type Slim, slim } from './ticks.ts'
import type { TrackedPool } from './tracked-pool.ts'

/** Increase with every change of the stored format; older snapshots are discarded. */
const VERSION = 4
const UNPACKED_MAX = 128 * 1024 * 1024

/** Pools as compressed JSON, bigints as text with the suffix n. `origin` identifies the DEXes and tokens of the snapshot. */
export async function pack(tracked: readonly TrackedPool[], origin: string): Promise<Uint8Array> {
  const text = JSON.stringify({ version: VERSION, origin, tracked: tracked.map(slim) }, (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )
  return promisify(gzip)(text, { level: 1 })
}

/** Null for another version or origin. */
export async function unpack(packed: Uint8Array, origin: string): Promise<readonly TrackedPool[] | null> {
  const text = (await promisify(gunzip)(packed, { maxOutputLength: UNPACKED_MAX })).toString()
  const snapshot = JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as { version: number; origin: string; tracked: readonly Slim[] }
  return snapshot.version === VERSION && snapshot.origin === origin ? snapshot.tracked.map(restoreTicks) : null
}
