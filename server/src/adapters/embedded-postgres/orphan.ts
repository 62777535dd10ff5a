import { readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Fast shutdown, immediate shutdown, kill; each waits before the next is tried. */
const STEPS = [
  { signal: 'SIGINT', waitMs: 10_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const
const POLL_MS = 20

/**
 * Stops the server that an earlier process left running on this cluster. Removes the pid file of a server that ended: its
 * pid may belong to another program now, and Postgres would refuse to start.
 */
export async function stopOrphan(cluster: string): Promise<boolean> {
  const file = join(cluster, 'postmaster.pid')
  const pid = readPid(file)
  if (pid === null) return false
  if (!serves(pid, cluster)) {
    rmSync(file, { force: true })
    return false
  }
  for (const { signal, waitMs } of STEPS) {
    kill(pid, signal)
    const deadline = Date.now() + waitMs
    while (Date.now() < deadline) {
      if (!serves(pid, cluster)) {
        rmSync(file, { force: true })
        return true
      }
      await wait(POLL_MS)
    }
  }
  throw new Error(`the Postgres with pid ${pid} on ${cluster} does not stop`)
}

function readPid(file: string): number | null {
  try {
    const [line = ''] = readFileSync(file, 'utf8').split('\n', 1)
    const pid = Number.parseInt(line, 10)
    return pid > 1 ? pid : null
  } catch {
    return null
  }
}

/** Whether this pid is the Postgres of the cluster, which is its working directory. */
function serves(pid: number, cluster: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  if (process.platform !== 'linux') return true
  try {
    if (/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return false
    return (
      readlinkSync(`/proc/${pid}/cwd`) === cluster ||
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(cluster)
    )
  } catch {
    return false
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return
    throw error
  }
}
