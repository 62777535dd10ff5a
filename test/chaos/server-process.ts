import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { compileCache } from '../support/compile-cache.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { serverMain } from '../support/server-main.ts'
import type { Interruptions, Symptom } from './interruptions.ts'

export type Role = 'api' | 'worker'
/** The n-th visit of a checkpoint. */
export type KillPoint = Readonly<{ name: string; nth: number }>
export type StartOptions = Readonly<{ killAt?: KillPoint; stopAt?: KillPoint; waitReady?: boolean }>

/** A real process of the server. It can be killed and restarted with the same folder and port. */
export type ServerProcess = Readonly<{
  name: string
  role: Role
  url: string | null
  /** Resolves when the process is ready. With `killAt` it kills itself at that point, with `stopAt` it stops itself (SIGSTOP). */
  start(options?: StartOptions): Promise<void>
  isRunning(): boolean
  isReady(): boolean
  /** Resolves when the process has exited. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** SIGSTOP, or SIGCONT. */
  setStopped(isStopped: boolean): void
  /** Blocks the event loop for `BLOCK_MS`; timers, requests and answers wait. */
  blockEventLoop(): void
  /** While on, every write to a file fails with EFBIG, as on a full disk with ENOSPC. */
  setDiskFull(isFull: boolean): void
  /** Number of exits by SIGKILL, of stops and blocked event loops, and of full disks. */
  countFaults(): Readonly<{ kills: number; stops: number; fullDisks: number }>
  /** Returns the unexpected exits since the last call. */
  takeCrashes(): readonly string[]
  /** Checkpoints at which the process was killed or stopped, over all of its starts. */
  killedAt(): readonly string[]
}>

export type ServerOptions = Readonly<{
  name: string
  role: Role
  root: string
  folder: string
  port: number
  env: Record<string, string>
  /** Of API processes: the suite interrupts one when it ends it, starts it, or starts it to be killed. */
  interruptions: Interruptions
}>

const READY_MS = 2 * PATIENCE_MS
const READY_EVERY_MS = 25
const preloads = ['kill-at.ts', 'block-at-signal.ts'].map((file) => join(import.meta.dirname, file))

/** Children that must not outlive this process. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export function createServerProcess(options: ServerOptions): ServerProcess {
  const { name, role, port } = options
  const url = role === 'api' ? `http://127.0.0.1:${port}` : null
  const folder = join(options.folder, name)
  mkdirSync(folder, { recursive: true })
  const logFile = join(folder, 'log')
  const pointsFile = join(folder, 'points')
  let crashes: string[] = []
  let child: ChildProcess | null = null
  let ended: Promise<void> = Promise.resolve()
  let readyFrom = 0
  let hasReadyLine = false
  let isExitExpected = false
  let [kills, stops, fullDisks] = [0, 0, 0]
  const own = createOwnInterruptions(options, url)
  const noteStart = async (started: ChildProcess) => {
    const finish = options.interruptions.noteStart()
    while (child === started && isRunning() && !isReady()) await delay(READY_EVERY_MS)
    finish()
  }

  function launch(killAt: KillPoint | undefined, stopAt: KillPoint | undefined): void {
    own.noteStart(killAt)
    readyFrom = logLength(logFile)
    hasReadyLine = false
    isExitExpected = killAt !== undefined
    const next = spawnServer(options, folder, logFile, {
      TEST_KILLED_AT: pointsFile,
      TEST_KILL_AT: formatPoint(killAt, 'SIGKILL') ?? formatPoint(stopAt, 'SIGSTOP') ?? '',
    })
    child = next
    ended = new Promise((resolve) => {
      next.once('exit', (code, signal) => {
        if (signal === 'SIGKILL') kills++
        if (!isExitExpected && code !== 0) crashes.push(`${name} ended with ${signal ?? code}: ${tail(logFile)}`)
        resolve()
      })
    })
    void noteStart(next)
  }

  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null
  const isReady = () => {
    if (!isRunning()) return false
    // Cached until the next start, because logs get long.
    hasReadyLine ||= readFileSync(logFile).subarray(readyFrom).includes('ready: ')
    return hasReadyLine
  }
  return {
    name,
    role,
    url,
    isRunning,
    isReady,
    async start({ killAt, stopAt, waitReady = true } = {}) {
      if (stopAt !== undefined) stops++
      launch(killAt, stopAt)
      const deadline = Date.now() + READY_MS
      while (waitReady && !isReady()) {
        if (!isRunning() && killAt !== undefined) return
        if (!isRunning()) throw new Error(`${name} did not start: ${tail(logFile)}`)
        if (Date.now() > deadline) throw new Error(`${name} was not ready within ${READY_MS} ms: ${tail(logFile)}`)
        await delay(READY_EVERY_MS)
      }
    },
    async end(signal) {
      if (!isRunning()) return ended
      isExitExpected = true
      own.noteEnd()
      child?.kill(signal)
      await ended
    },
    setStopped(isStopped) {
      if (isStopped) stops++
      child?.kill(isStopped ? 'SIGSTOP' : 'SIGCONT')
    },
    blockEventLoop() {
      stops++
      child?.kill('SIGUSR2')
    },
    setDiskFull(isFull) {
      if (isFull) fullDisks++
      // Node ignores SIGXFSZ, so the write fails instead. Only the soft limit: it can be raised again.
      execFileSync('prlimit', ['--pid', String(child?.pid), `--fsize=${isFull ? 0 : 'unlimited'}:unlimited`])
    },
    countFaults: () => ({ kills, stops, fullDisks }),
    takeCrashes() {
      const newCrashes = crashes
      crashes = []
      return newCrashes
    },
    killedAt: () => (existsSync(pointsFile) ? readFileSync(pointsFile, 'utf8').split('\n').filter(Boolean) : []),
  }
}

/** What the suite does to this process. Partners do not notice a worker, which has no URL. */
function createOwnInterruptions({ name, interruptions }: ServerOptions, url: string | null) {
  let finishes: (() => void)[] = []
  const begin = (what: string, symptoms: readonly Symptom[]) => {
    if (url !== null) finishes.push(interruptions.begin(`${name} ${what}`, [url], symptoms))
  }
  return {
    noteStart(killAt: KillPoint | undefined) {
      begin('starts', ['503', 'lost'])
      for (const finish of finishes) finish()
      finishes = []
      // It may exit at any time. Until then it must answer.
      if (killAt !== undefined) begin(`is killed at ${killAt.name}`, ['lost'])
    },
    noteEnd: () => begin('ends', ['503', 'lost']),
  }
}

const formatPoint = (point: KillPoint | undefined, signal: string): string | null =>
  point === undefined ? null : `${point.name}:${point.nth}:${signal}`

function spawnServer(
  options: ServerOptions,
  folder: string,
  logFile: string,
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const { root, role } = options
  const log = openSync(logFile, 'a')
  // A copy with a planted bug has sources only.
  const main = [serverMain, 'server/src/main.ts'].map((file) => join(root, file)).find(existsSync) ?? ''
  const imports = preloads.flatMap((file) => ['--import', file])
  const child = spawn(process.execPath, [...imports, main, 'start', '--sandbox', '--role', role], {
    cwd: root,
    env: { ...createEnvironment(options, folder), ...env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** Only the variables that the process needs, so that settings of the test run do not reach it. */
function createEnvironment({ role, port, env }: ServerOptions, folder: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    ...compileCache,
    HOME: process.env['HOME'] ?? '',
    SWAPYARD_DATA_DIR: join(folder, 'data'),
    SWAPYARD_RATE_LIMIT: 'off',
    SWAPYARD_SANDBOX_STILL: '1',
    // As behind one load balancer: an answer that another process repeats has the same URLs.
    SWAPYARD_PUBLIC_URL: 'https://swapyard.example',
    SWAPYARD_LOG_LEVEL: 'warn',
    ...(role === 'api' ? { PORT: String(port) } : {}),
    ...env,
  }
}

const logLength = (file: string): number => (existsSync(file) ? readFileSync(file).length : 0)

function tail(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-6).join('\n').slice(-2_000)
}
