import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readJson, removeFile, writeJson } from './files.ts'
import { log } from './log.ts'
import { isAlive, type PidIdentity, readPidIdentity, waitForExit } from './pid-identity.ts'

type LockRecord = Readonly<{ owner: PidIdentity; children: readonly PidIdentity[] }>

export type DataDirLock = Readonly<{
  /** Remembered in the lock file, so that the next start can end what this process could not. */
  addChild(pid: number): void
  removeChild(pid: number): void
  release(): void
}>

export class DataDirInUseError extends Error {}

/** Anvil writes its state when it is asked to end; this is the time it gets. */
const orphanStopTimeoutMs = 10_000
const ownerWaitTimeoutMs = 30_000

/** One sandbox per folder. What a killed one left behind is ended first, in order, so that its state is written. */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  mkdirSync(dataDir, { recursive: true })
  const file = join(dataDir, 'chains.lock')
  const owner = readPidIdentity(process.pid) ?? { pid: process.pid, since: '' }
  await waitForOwner(dataDir, file)
  if (!createExclusive(file, { owner, children: [] })) {
    const previous = readJson(file) as LockRecord | null
    if (previous && isAlive(previous.owner)) {
      throw new DataDirInUseError(`the chains in ${dataDir} are already run by process ${previous.owner.pid}`)
    }
    removeFile(file)
    // Of two that found the same dead owner, one creates the file and the other is refused.
    if (!createExclusive(file, { owner, children: [] }))
      throw new DataDirInUseError(`another process has just taken ${dataDir}`)
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

/** Whoever runs no chains in his folder is about to stop them, or to start them: he gets the time for it. */
async function waitForOwner(dataDir: string, file: string): Promise<void> {
  const deadline = Date.now() + ownerWaitTimeoutMs
  for (let waited = false; Date.now() < deadline; waited = true) {
    const lock = readJson(file) as LockRecord | null
    if (lock === null || !isAlive(lock.owner) || existsSync(join(dataDir, 'chains.json'))) return
    if (!waited) log(`waiting for process ${lock.owner.pid}, which stops the chains in ${dataDir}`)
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
  log(`ending ${orphans.length} nodes that an earlier sandbox left behind`)
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
    // It ended by itself meanwhile.
  }
}
