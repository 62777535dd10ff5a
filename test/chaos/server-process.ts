import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export type Role = 'api' | 'worker'
export type Spot = Readonly<{ name: string; nth: number }>

/** One real process of the server, which can be killed and started again on its own folder and port. */
export type ServerProcess = Readonly<{
  name: string
  role: Role
  url: string | null
  /** Resolves when it is ready. `killAt`: it kills itself there. */
  start(options?: { killAt?: Spot; waitReady?: boolean }): Promise<void>
  isRunning(): boolean
  isReady(): boolean
  /** Resolves when it has ended, by itself or by the signal. */
  end(signal: NodeJS.Signals | null): Promise<void>
  /** How it ended without being asked to, since the last time this was asked. */
  takeCrashes(): readonly string[]
  /** Points that were visited by any life of it, and those that it was killed at. */
  points(): { visited: ReadonlySet<string>; killed: ReadonlySet<string> }
  logFile: string
}>

export type ServerOptions = Readonly<{
  name: string
  role: Role
  root: string
  folder: string
  port: number
  env: Record<string, string>
}>

const READY_MS = 60_000
const preload = join(import.meta.dirname, 'kill-at.ts')

export function createServerProcess(options: ServerOptions): ServerProcess {
  const { name, role, root, port } = options
  const folder = join(options.folder, name)
  mkdirSync(folder, { recursive: true })
  const logFile = join(folder, 'log')
  const pointsFile = join(folder, 'points')
  let crashes: string[] = []
  let child: ChildProcess | null = null
  let ended: Promise<void> = Promise.resolve()
  let readyFrom = 0
  let asked = false

  function launch(killAt: Spot | undefined): void {
    const log = openSync(logFile, 'a')
    readyFrom = logLength(logFile)
    asked = killAt !== undefined
    const next = spawn(
      process.execPath,
      ['--import', preload, join(root, 'server/src/main.ts'), 'start', '--sandbox', '--role', role],
      {
        cwd: root,
        env: {
          ...environment(options, folder),
          TEST_POINTS: pointsFile,
          TEST_KILL_AT: killAt ? `${killAt.name}:${killAt.nth}` : '',
        },
        stdio: ['ignore', log, log],
      },
    )
    closeSync(log)
    child = next
    ended = new Promise((resolve) => {
      next.once('exit', (code, signal) => {
        if (!asked && code !== 0) crashes.push(`${name} ended with ${signal ?? code}: ${tail(logFile)}`)
        resolve()
      })
    })
  }

  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null
  const isReady = () => isRunning() && readFileSync(logFile).subarray(readyFrom).includes('ready: ')
  return {
    name,
    role,
    url: role === 'api' ? `http://127.0.0.1:${port}` : null,
    logFile,
    isRunning,
    isReady,
    async start({ killAt, waitReady = true } = {}) {
      launch(killAt)
      const deadline = Date.now() + READY_MS
      while (waitReady && !isReady()) {
        if (!isRunning() && killAt !== undefined) return
        if (!isRunning()) throw new Error(`${name} did not start: ${tail(logFile)}`)
        if (Date.now() > deadline) throw new Error(`${name} was not ready within ${READY_MS} ms: ${tail(logFile)}`)
        await delay(25)
      }
    },
    async end(signal) {
      if (!isRunning()) return ended
      asked = true
      if (signal !== null) child?.kill(signal)
      await ended
    },
    takeCrashes() {
      const taken = crashes
      crashes = []
      return taken
    },
    points() {
      const lines = existsSync(pointsFile) ? readFileSync(pointsFile, 'utf8').split('\n').filter(Boolean) : []
      return {
        visited: new Set(lines.map((line) => line.replace('killed ', ''))),
        killed: new Set(lines.flatMap((line) => (line.startsWith('killed ') ? [line.slice(7)] : []))),
      }
    },
  }
}

/** Nothing of ours but what the process needs: settings of the test run must not reach it. */
function environment({ role, port, env }: ServerOptions, folder: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    SWAPYARD_DATA_DIR: join(folder, 'data'),
    SWAPYARD_RATE_LIMIT: 'off',
    SWAPYARD_SANDBOX_STILL: '1',
    SWAPYARD_LOG_LEVEL: 'warn',
    ...(role === 'api' ? { PORT: String(port) } : {}),
    ...env,
  }
}

const logLength = (file: string): number => (existsSync(file) ? readFileSync(file).length : 0)

function tail(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-6).join('\n').slice(-2_000)
}
