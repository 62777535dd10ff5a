import { identifyPid, isRunning, type PidIdentity } from '@swapyard/lib/pid.ts'

const checkMs = 1000

/** The servers that use these chains, the one that started them first. */
export type Servers = Readonly<{
  /** Whether the chains end with their servers: those that a person started do not. */
  endWithServers: boolean
  /** A server has found the chains and goes on with them. False where no such process isRunning. */
  add(pid: number): boolean
  /** Resolves once no server has lived for the whole time; never where the chains do not end with them. */
  gone(): Promise<string>
}>

export function createServers(parent: number | null, orphanMs: number): Servers {
  const servers: PidIdentity[] = parent === null ? [] : [identifyPid(parent) ?? { pid: parent, startedAt: 'unknown' }]
  let aloneSince: number | null = null
  return {
    endWithServers: parent !== null,
    add(pid) {
      const found = identifyPid(pid)
      if (found === null) return false
      servers.splice(0, servers.length, ...servers.filter((one) => one.pid !== pid && isRunning(one)), found)
      aloneSince = null
      return true
    },
    gone() {
      if (parent === null) return new Promise(() => undefined)
      return new Promise((resolve) => {
        const timer = setInterval(() => {
          if (servers.some(isRunning)) aloneSince = null
          else aloneSince ??= performance.now()
          if (aloneSince === null || performance.now() - aloneSince < orphanMs) return
          clearInterval(timer)
          resolve(`no server has used these chains for ${Math.round(orphanMs / 1000)} seconds`)
        }, checkMs)
      })
    },
  }
}
