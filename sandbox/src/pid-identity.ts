import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** A process is known by its number and the moment it began: numbers are used again. */
export type PidIdentity = Readonly<{ pid: number; since: string }>

/** Null when there is no such process, or it has ended and only waits to be collected. */
export function readPidIdentity(pid: number): PidIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  if (existsSync('/proc/self/stat')) {
    try {
      // proc(5): the name in parentheses may hold anything; state is field 3, the start time field 22.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      return fields[0] === 'Z' ? null : { pid, since: fields[19] ?? '' }
    } catch {
      return null
    }
  }
  const { stdout, status } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
  return status === 0 ? { pid, since: stdout.trim() } : null
}

export function isAlive(identity: PidIdentity): boolean {
  return readPidIdentity(identity.pid)?.since === identity.since
}

/** Waits until the process is gone; false when it still lives at the end of the time. */
export async function waitForExit(identity: PidIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (isAlive(identity)) {
    if (performance.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}
