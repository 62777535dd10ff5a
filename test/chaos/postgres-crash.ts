import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { locateCluster } from '../../server/src/adapters/embedded-postgres/cluster-location.ts'

/** `quit`: SIGQUIT to the postmaster (immediate shutdown). `group`: SIGKILL to all processes, as in a power failure. */
export type Crash = 'quit' | 'group'

/** Crashes the embedded Postgres of a data folder. The process that started it restarts it on the same port. */
export function crashPostgres(dataDir: string, crash: Crash): void {
  if (crash === 'quit') sendSignal(readPostmasterPid(dataDir), 'SIGQUIT')
  else signalAll(dataDir, 'SIGKILL')
}

/** Stops or continues all processes. The kernel still accepts connections and data for stopped processes. */
export function setPostgresStopped(dataDir: string, isStopped: boolean): void {
  signalAll(dataDir, isStopped ? 'SIGSTOP' : 'SIGCONT')
}

/** The postmaster first: it would replace a lost child process, and start new ones. */
function signalAll(dataDir: string, name: NodeJS.Signals): void {
  const pid = readPostmasterPid(dataDir)
  for (const one of [pid, ...listChildren(pid)]) sendSignal(one, name)
}

function readPostmasterPid(dataDir: string): number {
  const { cluster } = locateCluster(dataDir)
  return Number.parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10)
}

/** proc(5): the fourth field of `stat`, after the name in brackets, is the parent. */
function listChildren(parent: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(fields[1]) === parent ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
