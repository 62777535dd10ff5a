import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** A process id with its start time: the operating system reuses ids. */
export type PidIdentity = Readonly<{ pid: number; since: string }>

/** Null if the process does not exist or is a zombie. */
export function readPidIdentity(pid: number): PidIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  if (existsSync('/proc/self/stat')) {
    try {
      // proc(5): the name in parentheses may contain any character; state is field 3, start time is field 22.
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

/** Waits until the process has exited; false after the timeout. */
export async function waitForExit(identity: PidIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (isAlive(identity)) {
    if (performance.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}
