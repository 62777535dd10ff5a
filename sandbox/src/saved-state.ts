import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { log } from './log.ts'

const intervalMs = 5_000
/**
 * Times the duration of a write, in which the sandbox answers nothing: writes take at most a twentieth of the time. A chain of Solana is
 * two megabytes, written in 15 ms; one of Sui grows to 60, written in two seconds.
 */
const paceFactor = 20

type StateFile = Readonly<{ network: string; path: string /** Changes with the form of the state. */; version: number }>

/** Returns the function that stops the calls. */
type StartTicks = (tick: () => void, ms: number) => () => void

type Timing = Readonly<{ startTicks: StartTicks; now(): number }>

/** The state of a chain that runs in this process, in one file. */
export type SavedState<T> = Readonly<{
  /** Null without a file, or if another version of the program wrote it. */
  read(): T | null
  /**
   * Writes what `state` returns now, and again every five seconds if `readMark` returns another value than at the last write. `stop`
   * writes it once more. A kill loses what happened since the last write.
   */
  keep(state: () => T, readMark: () => string): Readonly<{ stop(): void }>
}>

const startInterval: StartTicks = (tick, ms) => {
  const timer = setInterval(tick, ms)
  timer.unref()
  return () => clearInterval(timer)
}

export function createSavedState<T>(
  { network, path, version }: StateFile,
  { startTicks, now }: Timing = { startTicks: startInterval, now: Date.now },
): SavedState<T> {
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
    keep(state, readMark) {
      let writtenMark: string | null = null
      let dueMs = Number.NEGATIVE_INFINITY
      function writeChanged(): void {
        const mark = readMark()
        if (mark === writtenMark) return
        const startMs = now()
        write(state())
        writtenMark = mark
        dueMs = now() + paceFactor * (now() - startMs)
      }
      writeChanged()
      const stopTicks = startTicks(() => {
        if (now() >= dueMs) writeChanged()
      }, intervalMs)
      return {
        stop() {
          stopTicks()
          writeChanged()
        },
      }
    },
  }
}
