import { isAlive, type PidIdentity, readPidIdentity } from '@swapyard/lib/pid.ts'

const checkIntervalMs = 1000

/** The server processes that use these chains, including the one that started them. */
export type ServerRegistry = Readonly<{
  /** True if the chains stop after their last server; false if a person started them. */
  endWithServers: boolean
  /** Registers a server process that uses the chains. False if the process does not exist. */
  register(pid: number): boolean
  /** Resolves when no server has run for `orphanTimeoutMs`; never if `endWithServers` is false. */
  waitUntilUnused(): Promise<string>
}>

export function createServerRegistry(parentPid: number | null, orphanTimeoutMs: number): ServerRegistry {
  const servers: PidIdentity[] =
    parentPid === null ? [] : [readPidIdentity(parentPid) ?? { pid: parentPid, startedAt: 'unknown' }]
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
