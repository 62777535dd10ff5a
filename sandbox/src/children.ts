import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { DirectoryLock } from './directory-lock.ts'

export type Child = Readonly<{
  pid: number
  /** Resolves when the process has exited, to its exit code, signal or spawn error. */
  exitReason: Promise<string>
  /** Sends SIGTERM, and SIGKILL after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>
}>

export type Children = Readonly<{
  start(command: string, args: readonly string[], logFile: string): Child
  /** Stops all running children. */
  close(): Promise<void>
}>

const stopTimeoutMs = 5000

/**
 * Reads process ids from standard input. The input ends when the sandbox exits, even by SIGKILL; the script then sends
 * SIGTERM to the nodes, so that they write their state, and SIGKILL ten seconds later.
 */
const watchdogScript =
  'pids=; while read -r pid; do pids="$pids $pid"; done; [ -z "$pids" ] && exit; kill -TERM $pids 2>/dev/null; sleep 10; kill -KILL $pids 2>/dev/null'

export function createChildren(lock: DirectoryLock): Children {
  // Detached: Ctrl-C in the terminal reaches only the sandbox, which then stops its children in order.
  const watchdog = spawn('sh', ['-c', watchdogScript], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  watchdog.stdin.on('error', () => undefined)
  watchdog.on('error', () => undefined)
  watchdog.unref()
  const running = new Set<Child>()

  return {
    start(command, args, logFile) {
      const log = openSync(logFile, 'a')
      const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log] })
      closeSync(log)
      const exitReason = waitForExit(child)
      const { pid } = child
      if (pid === undefined) return { pid: 0, exitReason, stop: async () => undefined }
      lock.addChild(pid)
      watchdog.stdin.write(`${pid}\n`)
      const entry: Child = {
        pid,
        exitReason,
        async stop(timeoutMs) {
          child.kill('SIGTERM')
          const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
          await exitReason
          clearTimeout(timer)
        },
      }
      running.add(entry)
      void exitReason.then(() => {
        running.delete(entry)
        lock.removeChild(pid)
      })
      return entry
    },
    async close() {
      await Promise.all([...running].map((one) => one.stop(stopTimeoutMs)))
      watchdog.kill('SIGKILL')
    },
  }
}

function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ? `ended by ${signal}` : `ended with code ${code}`))
  })
}
