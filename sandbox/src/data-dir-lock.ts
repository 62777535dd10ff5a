import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readJson, removeFile, writeJson } from './files.ts'
import { say } from './log.ts'
import { describe, type Living, lives, waitForEnd } from './pid-identity.ts'

type Content = Readonly<{ owner: Living; children: readonly Living[] }>

export type FolderLock = Readonly<{
  /** Remembered in the lock file, so that the next start can end what this process could not. */
  addChild(pid: number): void
  removeChild(pid: number): void
  release(): void
}>

export class FolderTaken extends Error {}

/** Anvil writes its state when it is asked to end; this is the time it gets. */
const leftoverTimeoutMs = 10_000
const turnTimeoutMs = 30_000

/** One sandbox per folder. What a killed one left behind is ended first, in order, so that its state is written. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'chains.lock')
  const owner = describe(process.pid) ?? { pid: process.pid, since: '' }
  await waitForOwner(folder, file)
  if (!create(file, { owner, children: [] })) {
    const before = readJson(file) as Content | null
    if (before && lives(before.owner)) {
      throw new FolderTaken(`the chains in ${folder} are already run by process ${before.owner.pid}`)
    }
    removeFile(file)
    // Of two that found the same dead owner, one creates the file and the other is refused.
    if (!create(file, { owner, children: [] })) throw new FolderTaken(`another process has just taken ${folder}`)
    removeFile(join(folder, 'chains.json'))
    await endLeftovers(before?.children ?? [])
  }
  const children = new Map<number, Living>()
  const save = () => writeJson(file, { owner, children: [...children.values()] })
  return {
    addChild(pid) {
      children.set(pid, describe(pid) ?? { pid, since: '' })
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
async function waitForOwner(folder: string, file: string): Promise<void> {
  const deadline = Date.now() + turnTimeoutMs
  for (let waited = false; Date.now() < deadline; waited = true) {
    const before = readJson(file) as Content | null
    if (before === null || !lives(before.owner) || existsSync(join(folder, 'chains.json'))) return
    if (!waited) say(`waiting for process ${before.owner.pid}, which stops the chains in ${folder}`)
    await delay(100)
  }
}

function create(file: string, content: Content): boolean {
  try {
    writeFileSync(file, JSON.stringify(content), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function endLeftovers(children: readonly Living[]): Promise<void> {
  const left = children.filter(lives)
  if (left.length === 0) return
  say(`ending ${left.length} nodes that an earlier sandbox left behind`)
  await Promise.all(
    left.map(async (child) => {
      signal(child.pid, 'SIGTERM')
      if (!(await waitForEnd(child, leftoverTimeoutMs))) signal(child.pid, 'SIGKILL')
      await waitForEnd(child, 1000)
    }),
  )
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself meanwhile.
  }
}
