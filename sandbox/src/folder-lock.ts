import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type FileLock, FileLockedError, lockFile, readHolder } from '@swapyard/lib/file-lock.ts'
import { identifyPid, isRunning, type PidIdentity, waitForExit } from '@swapyard/lib/pid.ts'
import { removeFile } from './files.ts'
import { say } from './say.ts'

export type FolderLock = Readonly<{
  /** Recorded in the lock file, so that the next start can end what this process could not. */
  addChild(pid: number): void
  removeChild(pid: number): void
  release(): void
}>

export class FolderTaken extends Error {}

/** Anvil writes its state when it is asked to end; this is the time it gets. */
const leftoverTimeoutMs = 10_000
const turnTimeoutMs = 30_000

/** One sandbox per folder. Nodes that a killed sandbox left behind are ended first, in order, so that they write their state. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'chains.lock')
  await waitForOwner(folder, file)
  const lock = take(folder, file)
  if (lock.stale !== null) {
    removeFile(join(folder, 'chains.json'))
    await endLeftovers((lock.stale['children'] ?? []) as readonly PidIdentity[])
  }
  const children = new Map<number, PidIdentity>()
  const save = () => lock.write({ children: [...children.values()] })
  save()
  return {
    addChild(pid) {
      children.set(pid, identifyPid(pid) ?? { pid, startedAt: '' })
      save()
    },
    removeChild(pid) {
      children.delete(pid)
      save()
    },
    release: lock.release,
  }
}

function take(folder: string, file: string): FileLock {
  try {
    return lockFile(file)
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw error
    const { holder } = error
    if (holder === null) throw new FolderTaken(`another process has just taken ${folder}`)
    throw new FolderTaken(`the chains in ${folder} are already run by process ${holder.pid}`)
  }
}

/** An owner without `chains.json` is starting or stopping; wait up to 30 s. */
async function waitForOwner(folder: string, file: string): Promise<void> {
  const deadline = Date.now() + turnTimeoutMs
  for (let waited = false; Date.now() < deadline; waited = true) {
    const owner = readHolder(file)
    if (owner === null || existsSync(join(folder, 'chains.json'))) return
    if (!waited) say(`waiting for process ${owner.pid}, which stops the chains in ${folder}`)
    await delay(100)
  }
}

async function endLeftovers(children: readonly PidIdentity[]): Promise<void> {
  const left = children.filter(isRunning)
  if (left.length === 0) return
  say(`ending ${left.length} nodes that an earlier sandbox left behind`)
  await Promise.all(
    left.map(async (child) => {
      signal(child.pid, 'SIGTERM')
      if (!(await waitForExit(child, leftoverTimeoutMs))) signal(child.pid, 'SIGKILL')
      await waitForExit(child, 1000)
    }),
  )
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended meanwhile.
  }
}
