import { isAlive, type PidIdentity, readPidIdentity } from './pid-identity.ts'

const checkIntervalMs = 1000

/** The servers that use these chains, the one that started them first. */
export type ServerRegistry = Readonly<{
  /** Whether the chains end with their servers: those that a person started do not. */
  endWithServers: boolean
  /** A server has server the chains and goes on with them. False where no such process lives. */
  register(pid: number): boolean
  /** Resolves once no server has lived for the whole time; never where the chains do not end with them. */
  waitUntilUnused(): Promise<string>
}>

export function createServerRegistry(parentPid: number | null, orphanTimeoutMs: number): ServerRegistry {
  const servers: PidIdentity[] =
    parentPid === null ? [] : [readPidIdentity(parentPid) ?? { pid: parentPid, since: 'unknown' }]
  let unusedSinceMs: number | null = null
  return {
    endWithServers: parentPid !== null,
    register(pid) {
      const server = readPidIdentity(pid)
      if (server === null) return false
      servers.splice(0, servers.length, ...servers.filter((one) => one.pid !== pid && isAlive(one)), server)
      unusedSinceMs = null
      return true
    },
    waitUntilUnused() {
      if (parentPid === null) return new Promise(() => undefined)
      return new Promise((resolve) => {
        const timer = setInterval(() => {
          if (servers.some(isAlive)) unusedSinceMs = null
          else unusedSinceMs ??= performance.now()
          if (unusedSinceMs === null || performance.now() - unusedSinceMs < orphanTimeoutMs) return
          clearInterval(timer)
          resolve(`no server has used these chains for ${Math.round(orphanTimeoutMs / 1000)} seconds`)
        }, checkIntervalMs)
      })
    },
  }
}
