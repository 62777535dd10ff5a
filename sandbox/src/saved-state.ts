import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { log } from './log.ts'

/** What a kill of the sandbox loses at most. */
const intervalMs = 5_000

type StateFile = Readonly<{ network: string; path: string /** Changes with the form of the state. */; version: number }>

/** The state of a chain that runs in this process, in one file. */
export type SavedState<T> = Readonly<{
  /** Null if there is none, or if another version of the program wrote it. */
  read(): T | null
  /** Writes what `state` returns now and every five seconds, until `stop`, which writes it once more. */
  keep(state: () => T): Readonly<{ stop(): void }>
}>

export function createSavedState<T>({ network, path, version }: StateFile): SavedState<T> {
  function write(state: T): void {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.new`, serialize({ version, state }))
    renameSync(`${path}.new`, path)
  }
  return {
    read() {
      if (!existsSync(path)) return null
      try {
        const saved = deserialize(readFileSync(path)) as Readonly<{ version: number; state: T }>
        if (saved.version === version) return saved.state
      } catch {
        // Written by another version of V8.
      }
      log(`${network}: the saved chain cannot be read; a new one begins`)
      return null
    },
    keep(state) {
      write(state())
      const timer = setInterval(() => write(state()), intervalMs)
      timer.unref()
      return {
        stop() {
          clearInterval(timer)
          write(state())
        },
      }
    },
  }
}
