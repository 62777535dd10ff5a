import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type FileLock, FileLockedError, lockFile, readHolder } from '@swapyard/lib/file-lock.ts'
import { isAlive, type PidIdentity, readPidIdentity, waitForExit } from '@swapyard/lib/pid.ts'
import { log } from './log.ts'

export type DirectoryLock = Readonly<{
  /** Records the child in the lock file, so that the next start can stop it if this process is killed. */
  addChild(pid: number): void
  removeChild(pid: number): void
  release(): void
}>

export class DirectoryInUseError extends Error {}

/** Anvil writes its state on SIGTERM; this bounds the wait for it. */
const orphanStopTimeoutMs = 10_000
const ownerWaitTimeoutMs = 30_000

/**
 * Allows one sandbox per data directory. First stops the nodes of a killed sandbox with SIGTERM, so that they write
 * their state.
 */
export async function lockDirectory(dataDir: string): Promise<DirectoryLock> {
  mkdirSync(dataDir, { recursive: true })
  const file = join(dataDir, 'chains.lock')
  await waitForOwner(dataDir, file)
  const lock = acquire(dataDir, file)
  if (lock.stale !== null) {
    rmSync(join(dataDir, 'chains.json'), { force: true })
    await stopOrphans((lock.stale['children'] ?? []) as readonly PidIdentity[])
  }
  const children = new Map<number, PidIdentity>()
  const save = () => lock.write({ children: [...children.values()] })
  save()
  return {
    addChild(pid) {
      children.set(pid, readPidIdentity(pid) ?? { pid, startedAt: '' })
      save()
    },
    removeChild(pid) {
      children.delete(pid)
      save()
    },
    release: lock.release,
  }
}

function acquire(dataDir: string, file: string): FileLock {
  try {
    return lockFile(file)
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw error
    if (error.holder === null) throw new DirectoryInUseError(`another process has just locked ${dataDir}`)
    throw new DirectoryInUseError(`the chains in ${dataDir} are already run by process ${error.holder.pid}`)
  }
}

/** A lock owner without chains.json is starting or stopping its chains; wait up to 30 s for it. */
async function waitForOwner(dataDir: string, file: string): Promise<void> {
  const deadline = Date.now() + ownerWaitTimeoutMs
  for (let waited = false; Date.now() < deadline; waited = true) {
    const owner = readHolder(file)
    if (owner === null || existsSync(join(dataDir, 'chains.json'))) return
    if (!waited) log(`waiting for process ${owner.pid}, which is starting or stopping the chains in ${dataDir}`)
    await delay(100)
  }
}

async function stopOrphans(children: readonly PidIdentity[]): Promise<void> {
  const orphans = children.filter(isAlive)
  if (orphans.length === 0) return
  log(`stopping ${orphans.length} nodes of a previous sandbox that did not stop them`)
  await Promise.all(
    orphans.map(async (child) => {
      sendSignal(child.pid, 'SIGTERM')
      if (!(await waitForExit(child, orphanStopTimeoutMs))) sendSignal(child.pid, 'SIGKILL')
      await waitForExit(child, 1000)
    }),
  )
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has exited already.
  }
}
