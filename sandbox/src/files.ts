import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export function writeJson(path: string, value: unknown): void {
  writeText(path, `${JSON.stringify(value, null, 2)}\n`)
}

/** Replaces the file atomically: readers see the old contents or the new, never a part. */
export function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const temporaryPath = `${path}.${process.pid}.tmp`
  // Sandbox keys have no value, but only the owner of the directory needs to read them.
  writeFileSync(temporaryPath, text, { mode: 0o600 })
  renameSync(temporaryPath, path)
}

/** Null if the file does not exist or is not JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}
