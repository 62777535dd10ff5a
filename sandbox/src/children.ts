import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { FolderLock } from './data-dir-lock.ts'

export type Child = Readonly<{
  pid: number
  /** Resolves when the process has ended, to what is known about it. */
  ended: Promise<string>
  /** Asks it to end, and makes it after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>
}>

export type Children = Readonly<{
  start(command: string, args: readonly string[], logFile: string): Child
  /** Ends what still runs. */
  close(): Promise<void>
}>

const stopTimeoutMs = 5000

/**
 * Reads process ids from its input. When the input ends, the sandbox is gone, however it died: then the nodes are
 * asked to end, which makes them write their state, and a while later made to.
 */
const guardScript =
  'pids=; while read -r pid; do pids="$pids $pid"; done; [ -z "$pids" ] && exit; kill -TERM $pids 2>/dev/null; sleep 10; kill -KILL $pids 2>/dev/null'

export function createChildren(lock: FolderLock): Children {
  // Detached: a Ctrl-C of the terminal reaches the sandbox alone, which then ends everything in order.
  const guard = spawn('sh', ['-c', guardScript], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  guard.stdin.on('error', () => undefined)
  guard.on('error', () => undefined)
  guard.unref()
  const running = new Set<Child>()

  return {
    start(command, args, logFile) {
      const log = openSync(logFile, 'a')
      const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log] })
      closeSync(log)
      const ended = waitForExit(child)
      const { pid } = child
      if (pid === undefined) return { pid: 0, ended, stop: async () => undefined }
      lock.addChild(pid)
      guard.stdin.write(`${pid}\n`)
      const one: Child = {
        pid,
        ended,
        async stop(timeoutMs) {
          child.kill('SIGTERM')
          const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
          await ended
          clearTimeout(timer)
        },
      }
      running.add(one)
      void ended.then(() => {
        running.delete(one)
        lock.removeChild(pid)
      })
      return one
    },
    async close() {
      await Promise.all([...running].map((one) => one.stop(stopTimeoutMs)))
      guard.kill('SIGKILL')
    },
  }
}

function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ? `ended by ${signal}` : `ended with code ${code}`))
  })
}
