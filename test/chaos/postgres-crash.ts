import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { locateCluster } from '../../server/src/adapters/embedded-postgres/cluster-location.ts'

/** `quit`: the postmaster throws everything away at once, as after a crash. `group`: power is off for all of its processes. */
export type Crash = 'quit' | 'group'

/** Ends the embedded Postgres of a data folder, hard. The process that started it restarts it on the same port. */
export function crashPostgres(dataDir: string, crash: Crash): void {
  const pid = postmasterOf(dataDir)
  // The postmaster first: it would react to a killed child with a restart.
  if (crash === 'quit') signal(pid, 'SIGQUIT')
  else for (const one of [pid, ...childrenOf(pid)]) signal(one, 'SIGKILL')
}

function postmasterOf(dataDir: string): number {
  const { cluster } = locateCluster(dataDir)
  return Number.parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10)
}

/** proc(5): the fourth field of `stat`, after the name in brackets, is the parent. */
function childrenOf(parent: number): number[] {
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

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
