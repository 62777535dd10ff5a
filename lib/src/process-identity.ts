import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** A process is known by its number and the moment it began: numbers are used again. */
export type Living = Readonly<{ pid: number; since: string }>

/** Null when there is no such process, or it has ended and only waits to be collected. */
export function describe(pid: number): Living | null {
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

export function lives(one: Living): boolean {
  return describe(one.pid)?.since === one.since
}

/** Waits until the process is gone; false when it still lives at the end of the time. */
export async function waitForEnd(one: Living, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (lives(one)) {
    if (performance.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}
