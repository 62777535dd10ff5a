import { fork } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { heapEnvironment, heapFlags } from '../scripts/heap.mjs'

/** Sent by a child process once: its ports when it listens, or its measurements when it has finished. */
export type Report = Readonly<Record<string, number>>
export type Usage = Readonly<{ rssBytes: number; cpuMs: number }>

export type Process = Readonly<{ report(name: string): number; usage(): Promise<Usage>; stop(): Promise<void> }>

/** `profileFolder`: folder for a CPU profile. `logFile`: its standard output, which has the log, as in production. */
type Outputs = Readonly<{ profileFolder: string | null; logFile: string }>

/** Starts a file of this folder as a child process and waits for its report. */
export async function startProcess(
  file: string,
  settings: unknown,
  { profileFolder, logFile }: Outputs,
): Promise<Process> {
  const output = openSync(logFile, 'a')
  const profile = profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]
  const child = fork(join(import.meta.dirname, file), [JSON.stringify(settings)], {
    execArgv: [...heapFlags(), ...profile],
    env: { ...heapEnvironment, ...process.env },
    stdio: ['ignore', output, 'inherit', 'ipc'],
  })
  closeSync(output)
  const nextMessage = <T>() =>
    new Promise<T>((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`${file} exited with code ${code}`))
      child.once('exit', onExit)
      child.once('message', (message) => {
        child.off('exit', onExit)
        resolve(message as T)
      })
    })
  const ready = await nextMessage<Report>()
  return {
    report: (name) => {
      const value = ready[name]
      if (value === undefined) throw new Error(`the report of ${file} has no ${name}`)
      return value
    },
    usage: () => {
      child.send('usage')
      return nextMessage<Usage>()
    },
    stop: async () => {
      if (!child.connected) return
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.disconnect()
      await exited
    },
  }
}

/** In the child: sends the report, answers requests for memory and CPU time, and stops when the parent disconnects. */
export function serve(report: Report, stop: () => Promise<void>): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ rssBytes: process.memoryUsage.rss(), cpuMs: (user + system) / 1000 } satisfies Usage)
  })
  process.once('disconnect', () => {
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
  process.send?.(report)
}

/** In the child: the settings that `startProcess` passed. */
export function readSettings<T>(): T {
  return JSON.parse(process.argv[2] ?? 'null') as T
}
