import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fail } from './print.ts'

type Sessions = Readonly<Record<string, Readonly<{ token: string; login: string; expiresAt: string }>>>

/** Sessions of the command line by URL, for their owner only. */
const file = (): string => join(homedir(), '.config', 'swapyard', 'sessions.json')

function readAll(): Sessions {
  try {
    if ((statSync(file()).mode & 0o077) !== 0)
      fail(`${file()} is accessible to other users; run chmod 600 ${file()}, and log in again`)
    return JSON.parse(readFileSync(file(), 'utf8')) as Sessions
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw error
  }
}

/** In one step: a crash leaves the file of before. */
function writeAll(sessions: Sessions): void {
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 })
  const draft = `${file()}.${process.pid}`
  writeFileSync(draft, JSON.stringify(sessions), { mode: 0o600 })
  renameSync(draft, file())
}

export const readSession = (url: string) => readAll()[url] ?? null

export const saveSession = (url: string, session: Sessions[string]): void => writeAll({ ...readAll(), [url]: session })

export const dropSession = (url: string): void =>
  writeAll(Object.fromEntries(Object.entries(readAll()).filter(([known]) => known !== url)))
