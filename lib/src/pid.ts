import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A pid and the moment the process started: the system gives a pid again to another process. */
export type PidIdentity = Readonly<{ pid: number; startedAt: string }>

/** Null for a pid without a process, or with one that has ended and waits to be reaped. */
export function readPidIdentity(pid: number): PidIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  const startedAt = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid)
  return startedAt === null ? null : { pid, startedAt }
}

export function isAlive({ pid, startedAt }: PidIdentity): boolean {
  return readPidIdentity(pid)?.startedAt === startedAt
}

/** False when the process still runs after `timeoutMs`. */
export async function waitForExit(one: PidIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (isAlive(one)) {
    if (performance.now() > deadline) return false
    await delay(20)
  }
  return true
}

/** Boot id and start in clock ticks since that boot. */
function startOnLinux(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // proc(5): the name in parentheses may contain anything; after it come field 3, the state, and field 22, the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return null
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19] ?? ''}`
  } catch {
    return null
  }
}

function startByPs(pid: number): string | null {
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 })
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : null
}
