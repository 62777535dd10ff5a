import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FolderLockedError, lockFolder } from './lock.ts'

test('names the process that uses a data folder, and what to do', () => {
  const parent = mkdtempSync(join(tmpdir(), 'swapyard-lock-'))
  try {
    const folder = join(parent, 'data')
    const { release } = lockFolder(folder)
    expect(() => lockFolder(folder)).toThrow(FolderLockedError)
    expect(() => lockFolder(folder)).toThrow(
      `the data folder ${folder} is in use by this process itself: stop it, or set SWAPYARD_DATA_DIR to another folder`,
    )
    release()
    lockFolder(folder).release()
  } finally {
    rmSync(parent, { recursive: true })
  }
})
