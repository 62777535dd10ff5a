import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { heapEnvironment, heapFlags, privacyFlags } from '../scripts/heap.mjs'
import { compileCache } from '../test/support/compile-cache.ts'
import { serverMain } from '../test/support/server-main.ts'
import { readUsage, type Usage } from './usage.ts'

/** Sent by a child process once: its ports when it listens, or its measurements when it has finished. */
export type Report = Readonly<Record<string, number>>

export type Process = Readonly<{ report(name: string): number; usage(): Promise<Usage>; stop(): Promise<void> }>

/** `profileFolder`: folder for a CPU profile. `logFile`: its standard output, which has the log, as in production. */
type Outputs = Readonly<{ profileFolder: string | null; logFile: string }>

type Launch = Readonly<{
  file: string
  args: readonly string[]
  flags: readonly string[]
  env: Readonly<Record<string, string | undefined>>
}>

function launch({ file, args, flags, env }: Launch, { profileFolder, logFile }: Outputs): ChildProcess {
  const output = openSync(logFile, 'a')
  const profile = profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]
  const child = fork(file, args, {
    execArgv: [...heapFlags(), ...flags, ...profile],
    env: { ...heapEnvironment, ...env },
    stdio: ['ignore', output, 'inherit', 'ipc'],
  })
  closeSync(output)
  return child
}

/** Starts a file of this folder as a child process and waits for its report. */
export async function startProcess(file: string, settings: unknown, outputs: Outputs): Promise<Process> {
  const path = join(import.meta.dirname, file)
  const child = launch({ file: path, args: [JSON.stringify(settings)], flags: [], env: process.env }, outputs)
  return control(child, file, await nextMessage<Report>(child, file))
}

export type ProgramOptions = Readonly<{
  /** Arguments after `swapyard start`. */
  args: readonly string[]
  /** Nothing else is passed on from this process. */
  env: Readonly<Record<string, string>>
  port: number
  /** The path that answers 200 once the process can be measured. */
  readyPath: string
}>

const READY_MS = 120_000
const READY_POLL_MS = 100
const LOG_SHOWN = 4_000

/** Starts the program as its scripts do, and waits until it is ready. Its report has the `port`. */
export async function startProgram({ args, env, port, readyPath }: ProgramOptions, outputs: Outputs): Promise<Process> {
  const child = launch(
    {
      file: join(import.meta.dirname, '..', serverMain),
      args: ['start', ...args],
      flags: [...privacyFlags, '--enable-source-maps', '--import', join(import.meta.dirname, 'report-usage.ts')],
      env: { PATH: process.env['PATH'], ...compileCache, ...env },
    },
    outputs,
  )
  const deadline = Date.now() + READY_MS
  let answer = ''
  while (!(await isReady())) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`the program is not ready: ${answer}\n${readFileSync(outputs.logFile, 'utf8').slice(-LOG_SHOWN)}`)
    }
    await delay(READY_POLL_MS)
  }
  return control(child, `swapyard start ${args.join(' ')}`, { port })

  async function isReady(): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${port}${readyPath}`).catch(() => null)
    answer = (await response?.text()) ?? 'no answer'
    return response?.status === 200
  }
}

function nextMessage<T>(child: ChildProcess, name: string): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${name} exited with code ${code}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message as T)
    })
  })
}

function control(child: ChildProcess, name: string, report: Report): Process {
  return {
    report: (entry) => {
      const value = report[entry]
      if (value === undefined) throw new Error(`the report of ${name} has no ${entry}`)
      return value
    },
    usage: () => {
      child.send('usage')
      return nextMessage<Usage>(child, name)
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
    process.send?.(readUsage())
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
