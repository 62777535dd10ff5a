import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { locateCluster } from './cluster-location.ts'

/** The URL of the embedded database that another process runs on this data folder, or null if none is ready. */
export function findRunningUrl(dataDir: string): string | null {
  if (!existsSync(join(resolve(dataDir, 'postgres'), 'place.json'))) return null
  const { cluster, password } = locateCluster(dataDir)
  const port = readyPort(cluster)
  return port === null ? null : urlOf(password, port)
}

/** The eighth line of the pid file says `ready`, the fourth the port (PostgreSQL, src/include/utils/pidfile.h). */
export function readyPort(cluster: string): string | null {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    const port = lines[3] ?? ''
    return lines[7]?.trim() === 'ready' && /^[0-9]{1,5}$/.test(port) ? port : null
  } catch {
    return null
  }
}

export function urlOf(password: string, port: number | string): string {
  return `postgres://swapyard:${password}@127.0.0.1:${port}/swapyard`
}
