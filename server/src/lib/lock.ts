import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type FileLock, FileLockedError, lockFile } from '@swapyard/lib/file-lock.ts'

/** Another live process holds the folder. */
export class FolderLockedError extends Error {
  override readonly name = 'FolderLockedError'
}

export type FolderLock = Pick<FileLock, 'release'>

/** Takes the data folder for this process, or throws a FolderLockedError that names the process that has it. */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    return lockFile(join(folder, 'swapyard.lock'))
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw error
    const { holder } = error
    if (holder === null)
      throw new FolderLockedError(`the data folder ${folder} cannot be locked: other processes try the same now`)
    const who = holder.pid === process.pid ? 'this process itself' : `process ${holder.pid}`
    throw new FolderLockedError(
      `the data folder ${folder} is in use by ${who}: stop it, or set SWAPYARD_DATA_DIR to another folder`,
    )
  }
}
