import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Why a directory cannot be written to or created; null if it can. The path is absolute. */
export function whyUnusable(folder: string): string | null {
  let existing = folder
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  try {
    if (!statSync(existing).isDirectory()) return `${existing} is not a folder`
    accessSync(existing, constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return `this user may not write in ${existing} (${code})`
  }
}
