import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@swapyard/lib/until.ts'
import { inject } from 'vitest'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import { compileCache } from '../support/compile-cache.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { serverMain } from '../support/server-main.ts'

const root = join(import.meta.dirname, '../..')
const readyAt = /ready: \w+ at (http:\S+)/
const service = [serverMain, 'start', '--sandbox']

/** One run of the program in its own process group and without the environment of the tests. */
export type Program = Readonly<{
  pid: number
  /** Returns the text of both outputs. */
  output(): string
  /** Waits until the program is ready and returns its URL. */
  waitUntilReady(): Promise<string>
  /** Waits until the output contains the text. */
  waitForOutput(text: string): Promise<void>
  /** Resolves when the process has exited and its outputs are closed. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Resolves when the process has exited; its children may still write to its outputs. */
  exited: Promise<void>
  kill(signal: NodeJS.Signals): void
  /** Kills the program and the children in its process group. */
  killGroup(): void
}>

export type ProgramOptions = Readonly<{
  env: Record<string, string>
  args?: readonly string[]
  /** Command that starts the program, for example `setpriv --reuid=…`. */
  wrapper?: readonly string[]
  /** Program of this repository with its arguments. Default: the service. */
  command?: readonly string[]
  /** Starts the service with `npm start`. */
  usesNpm?: boolean
}>

export function startProgram({ env, args = [], wrapper = [], command = service, usesNpm }: ProgramOptions): Program {
  const [main = '', ...words] = command
  const program = usesNpm ? ['npm', '--prefix', root, 'start', '--'] : [process.execPath, join(root, main), ...words]
  const [file = '', ...rest] = [...wrapper, ...program, ...args]
  const child: ChildProcess = spawn(file, rest, {
    cwd: '/',
    detached: true,
    env: {
      PATH: process.env['PATH'] ?? '',
      ...compileCache,
      HOST: '127.0.0.1',
      PORT: '0',
      SWAPYARD_SANDBOX_STILL: '1',
      SWAPYARD_LOG_LEVEL: 'warn',
      // On a busy machine Postgres takes seconds to open the connections of a start.
      SWAPYARD_POOL_WAIT_MS: '9000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pid = child.pid ?? 0
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let isEnded = false
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => {
      isEnded = true
      resolve({ code, signal })
    })
  })
  async function waitUntilOutput(condition: () => boolean): Promise<void> {
    const check = () => {
      if (!condition() && isEnded) throw new Error(`the program ended: ${output}`)
      return condition()
    }
    await until('the program prints the text', check, { timeoutMs: PATIENCE_MS, intervalMs: 50, explain: () => output })
  }
  return {
    pid,
    output: () => output,
    ended,
    exited,
    async waitUntilReady() {
      await waitUntilOutput(() => readyAt.test(output))
      return readyAt.exec(output)?.[1] ?? ''
    },
    waitForOutput: (text) => waitUntilOutput(() => output.includes(text)),
    kill: (signal) => {
      if (!isEnded) process.kill(pid, signal)
    },
    killGroup: () => {
      if (!isEnded) process.kill(-pid, 'SIGKILL')
    },
  }
}

export type StartCluster = Readonly<{
  folder: string
  chainsFile: string
  /** Makes another user the owner of these paths in the folder. Default: all paths. */
  changeOwner(uid: number, paths?: readonly string[]): void
  /** Adds a path outside the folder that `remove` deletes, too. */
  removeLater(path: string): void
  remove(): void
}>

/** Creates a folder with a `chains.json` for two of the shared chains. More chains would use up the sandbox bank. */
export function createStartCluster(): StartCluster {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-start-'))
  const chains = JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile
  const chainsFile = join(folder, 'two-chains.json')
  const networks = chains.networks.filter(({ network }) => ['btc', 'eth'].includes(network))
  writeFileSync(chainsFile, JSON.stringify({ ...chains, networks }))
  // Another user must be able to enter this folder.
  chmodSync(folder, 0o755)
  const pathsToRemove = [folder]
  return {
    folder,
    chainsFile,
    changeOwner(uid, paths = ['.', ...readdirSync(folder)]) {
      for (const path of paths) chownSync(join(folder, path), uid, uid)
    },
    removeLater: (path) => void pathsToRemove.push(path),
    remove() {
      for (const path of pathsToRemove) rmSync(path, { recursive: true, force: true })
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests read responses without types, as a partner's script does
export type Json = any

/** Sends a request with the sandbox's API key. */
export async function sendRequest(url: string, body?: unknown): Promise<Readonly<{ status: number; body: Json }>> {
  const answer = await fetch(url, {
    headers: { 'x-api-key': 'sandbox', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: await answer.json() }
}
