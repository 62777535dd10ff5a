import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readJson, removeFile, writeJson } from './files.ts'
import { log } from './log.ts'
import { isAlive, type PidIdentity, readPidIdentity, waitForExit } from './pid-identity.ts'

type LockRecord = Readonly<{ owner: PidIdentity; children: readonly PidIdentity[] }>

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
  const owner = readPidIdentity(process.pid) ?? { pid: process.pid, since: '' }
  await waitForOwner(dataDir, file)
  if (!createExclusive(file, { owner, children: [] })) {
    const previous = readJson(file) as LockRecord | null
    if (previous && isAlive(previous.owner)) {
      throw new DirectoryInUseError(`the chains in ${dataDir} are already run by process ${previous.owner.pid}`)
    }
    removeFile(file)
    // Two processes may find the same stale lock: one creates the file, the other is rejected.
    if (!createExclusive(file, { owner, children: [] }))
      throw new DirectoryInUseError(`another process has just locked ${dataDir}`)
    removeFile(join(dataDir, 'chains.json'))
    await stopOrphans(previous?.children ?? [])
  }
  const children = new Map<number, PidIdentity>()
  const save = () => writeJson(file, { owner, children: [...children.values()] })
  return {
    addChild(pid) {
      children.set(pid, readPidIdentity(pid) ?? { pid, since: '' })
      save()
    },
    removeChild(pid) {
      children.delete(pid)
      save()
    },
    release: () => removeFile(file),
  }
}

/** A lock owner without chains.json is starting or stopping its chains; wait up to 30 s for it. */
async function waitForOwner(dataDir: string, file: string): Promise<void> {
  const deadline = Date.now() + ownerWaitTimeoutMs
  for (let waited = false; Date.now() < deadline; waited = true) {
    const lock = readJson(file) as LockRecord | null
    if (lock === null || !isAlive(lock.owner) || existsSync(join(dataDir, 'chains.json'))) return
    if (!waited) log(`waiting for process ${lock.owner.pid}, which is starting or stopping the chains in ${dataDir}`)
    await delay(100)
  }
}

function createExclusive(file: string, content: LockRecord): boolean {
  try {
    writeFileSync(file, JSON.stringify(content), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
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
