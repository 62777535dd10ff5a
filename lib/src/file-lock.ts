import { spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Another live process holds the folder. */
export class FolderLockedError extends Error {
  override readonly name = 'FolderLockedError'
}

export type FolderLock = Readonly<{ release(): void }>

/** Who holds a folder. A pid alone is not enough: after a restart of the machine it is somebody else's. */
type Holder = Readonly<{ pid: number; startedAt: string }>

const FILE = 'swapyard.lock'
/** Taking over is a matter of microseconds; a guard older than this was left by a process that died in between. */
const GUARD_MS = 10_000
const TRIES = 50

/** Takes a folder for this process, or throws a FolderLockedError that names who has it. A dead process holds nothing. */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, FILE)
  const mine: Holder = { pid: process.pid, startedAt: startOf(process.pid) ?? '' }
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    if (place(file, mine)) return { release: () => release(file, mine) }
    const holder = read(file)
    if (holder && isAlive(holder)) {
      const who = holder.pid === process.pid ? 'this process itself' : `process ${holder.pid}`
      throw new FolderLockedError(
        `the data folder ${folder} is in use by ${who}: stop it, or set SWAPYARD_DATA_DIR to another folder`,
      )
    }
    removeStale(file, holder)
  }
  throw new FolderLockedError(`the data folder ${folder} cannot be locked: others try the same at this moment`)
}

/** Appears whole or not at all: written under a name of its own, then linked. */
function place(file: string, holder: Holder): boolean {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 })
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Removes the file only if it still says what was judged to be stale: two takers must not remove each other's. */
function removeStale(file: string, judged: Holder | null): void {
  const guard = `${file}.guard`
  try {
    mkdirSync(guard)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    const age = ageOf(guard)
    if (age !== null && age > GUARD_MS) rmSync(guard, { recursive: true, force: true })
    return
  }
  try {
    const current = read(file)
    if (current?.pid === judged?.pid && current?.startedAt === judged?.startedAt) rmSync(file, { force: true })
  } finally {
    rmSync(guard, { recursive: true, force: true })
  }
}

function release(file: string, mine: Holder): void {
  const current = read(file)
  if (current?.pid === mine.pid && current.startedAt === mine.startedAt) rmSync(file, { force: true })
}

function read(file: string): Holder | null {
  try {
    const { pid, startedAt } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>
    return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : null
  } catch {
    return null
  }
}

function isAlive(holder: Holder): boolean {
  const startedAt = startOf(holder.pid)
  return startedAt !== null && startedAt === holder.startedAt
}

/** When a process started, in the system's own terms, or null where there is none with this pid. */
function startOf(pid: number): string | null {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // proc(5): after the name in brackets, which may hold anything, come fields 3 and on; 3 is the state, 22 the start in ticks.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields[0] === 'Z' || fields[0] === 'X') return null
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19] ?? ''}`
    } catch {
      return null
    }
  }
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 })
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : null
}

function ageOf(path: string): number | null {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return null
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null
}
