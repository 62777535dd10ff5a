import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export function writeJson(path: string, value: unknown): void {
  writeText(path, `${JSON.stringify(value, null, 2)}\n`)
}

/** Readers see the old file or the new one, never a half. */
export function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const temporaryPath = `${path}.${process.pid}.tmp`
  // Keys and passwords of a sandbox are worth nothing, but the folder's owner alone needs them.
  writeFileSync(temporaryPath, text, { mode: 0o600 })
  renameSync(temporaryPath, path)
}

/** Null where there is no such file, or what it holds is not JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

export function removeFile(path: string): void {
  rmSync(path, { force: true })
}
