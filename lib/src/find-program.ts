import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of an executable in the directories of `searchPath`, which has the form of `PATH`; null without one. */
export function findProgram(name: string, searchPath: string): string | null {
  for (const directory of searchPath.split(delimiter)) {
    const path = join(directory, name)
    try {
      accessSync(path, constants.X_OK)
      if (directory !== '') return path
    } catch {
      // Not in this directory.
    }
  }
  return null
}
