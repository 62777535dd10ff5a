import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isAlive, type PidIdentity, readPidIdentity } from './pid.ts'

/** Another live process holds the lock; `holder` is null when several processes take it over at this moment. */
export class FileLockedError extends Error {
  override readonly name = 'FileLockedError'
  readonly holder: PidIdentity | null

  constructor(file: string, holder: PidIdentity | null) {
    super(`${file} is locked by ${holder === null ? 'another process' : `process ${holder.pid}`}`)
    this.holder = holder
  }
}

type Content = Readonly<Record<string, unknown>>

export type FileLock = Readonly<{
  /** Content that a process left when it ended without a release; null without such a file. */
  stale: Content | null
  /** Replaces what the file contains beside its holder. */
  write(content: Content): void
  release(): void
}>

/** A takeover lasts microseconds. An older guard belongs to a process that was killed during one. */
const GUARD_MS = 10_000
const TRIES = 50

/** Creates the lock file, or takes it over from a process that no longer runs. Its directory must exist. */
export function lockFile(file: string): FileLock {
  const mine = readPidIdentity(process.pid) ?? { pid: process.pid, startedAt: '' }
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    if (create(file, mine)) return lockOf(file, mine, null)
    const text = read(file)
    if (text === null) continue
    const holder = holderIn(text)
    if (holder !== null && isAlive(holder)) throw new FileLockedError(file, holder)
    if (takeOver(file, text, mine)) return lockOf(file, mine, parse(text))
  }
  throw new FileLockedError(file, null)
}

/** The live process that holds the lock, or null. */
export function readHolder(file: string): PidIdentity | null {
  const text = read(file)
  const holder = text === null ? null : holderIn(text)
  return holder !== null && isAlive(holder) ? holder : null
}

function lockOf(file: string, mine: PidIdentity, stale: Content | null): FileLock {
  return {
    stale,
    write: (content) => replace(file, { ...content, ...mine }),
    release: () => {
      const text = read(file)
      const holder = text === null ? null : holderIn(text)
      if (holder?.pid === mine.pid && holder.startedAt === mine.startedAt) rmSync(file, { force: true })
    },
  }
}

/** Readers never see half of a file: it is written under another name, then linked. */
function create(file: string, mine: PidIdentity): boolean {
  const draft = writeDraft(file, mine)
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

/** The guard admits one process; it replaces the file only if that still contains the text judged stale. */
function takeOver(file: string, judged: string, mine: PidIdentity): boolean {
  const guard = `${file}.guard`
  try {
    mkdirSync(guard)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    const age = ageMsOf(guard)
    if (age !== null && age > GUARD_MS) rmSync(guard, { recursive: true, force: true })
    return false
  }
  try {
    if (read(file) !== judged) return false
    replace(file, mine)
    return true
  } finally {
    rmSync(guard, { recursive: true, force: true })
  }
}

const replace = (file: string, content: Content): void => renameSync(writeDraft(file, content), file)

function writeDraft(file: string, content: Content): string {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify(content), { mode: 0o600 })
  return draft
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

function parse(text: string): Content | null {
  try {
    const content: unknown = JSON.parse(text)
    return typeof content === 'object' && content !== null ? (content as Content) : null
  } catch {
    return null
  }
}

function holderIn(text: string): PidIdentity | null {
  const { pid, startedAt } = parse(text) ?? {}
  return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : null
}

function ageMsOf(path: string): number | null {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return null
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null
}
