import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Why nothing can be written in a folder, or made where there is none; null where it can. An absolute path. */
export function whyUnusable(folder: string): string | null {
  let nearest = folder
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest)
  try {
    if (!statSync(nearest).isDirectory()) return `${nearest} is not a folder`
    accessSync(nearest, constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return `this user may not write in ${nearest} (${code})`
  }
}
