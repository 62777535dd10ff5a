// One process at a time in a directory. Plain JavaScript for Node 20 without dependencies.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const LOCK_WAIT_MS = 15 * 60_000

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/**
 * True if the owner has exited, or if the file is still empty 5 s after its creation (the owner writes its pid at
 * once).
 */
function isStale(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? !isAlive(pid) : Date.now() - statSync(lock).mtimeMs > 5_000
  } catch {
    return false
  }
}

/**
 * Runs `work` while this process holds the file `lock`. It cannot use lib/src/file-lock.ts: Node 20 does not run
 * TypeScript, and no package is installed yet. `activity`: what the owner does, for the message of a process that waits.
 */
export async function withLock(lock, activity, work) {
  mkdirSync(dirname(lock), { recursive: true })
  const deadline = Date.now() + LOCK_WAIT_MS
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isStale(lock)) rmSync(lock, { force: true })
    else {
      if (!waited) console.error(`swapyard: waiting for another process that is ${activity}`)
      if (Date.now() > deadline)
        throw new Error(`timed out after ${LOCK_WAIT_MS / 60_000} minutes waiting for the process that holds ${lock}`)
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}
