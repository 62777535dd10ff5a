import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@swapyard/lib/until.ts'
import { inject } from 'vitest'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import { compileCache } from '../support/compile-cache.ts'
import { PATIENCE_MS } from '../support/patience.ts'

const root = join(import.meta.dirname, '../..')
const readyAt = /ready: \w+ at (http:\S+)/
const service = ['server/src/main.ts', 'start', '--sandbox']

/** One run of the program, as a person starts it: its own process group, nothing of our environment. */
export type Program = Readonly<{
  pid: number
  /** All that it has said, on both outputs. */
  said(): string
  /** The URL that it names once it is ready. */
  ready(): Promise<string>
  /** Waits until it has said this. */
  says(text: string): Promise<void>
  /** How it ended, once it has. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** The process itself has ended: what it left behind may still write to its outputs. */
  exited: Promise<void>
  kill(signal: NodeJS.Signals): void
  /** Kills it with everything that it started in its group. */
  killGroup(): void
}>

export type ProgramOptions = Readonly<{
  env: Record<string, string>
  args?: readonly string[]
  /** What starts it in its turn, for example `setpriv --reuid=…`. */
  through?: readonly string[]
  /** A program of this clone and its arguments, where it is not the service. */
  command?: readonly string[]
  /** The service by `npm start`. */
  byNpm?: boolean
}>

export function startProgram({ env, args = [], through = [], command = service, byNpm }: ProgramOptions): Program {
  const [main = '', ...words] = command
  const program = byNpm ? ['npm', '--prefix', root, 'start', '--'] : [process.execPath, join(root, main), ...words]
  const [file = '', ...rest] = [...through, ...program, ...args]
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
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pid = child.pid ?? 0
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
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
  async function saidUntil(condition: () => boolean): Promise<void> {
    const look = () => {
      if (!condition() && isEnded) throw new Error(`it ended: ${said}`)
      return condition()
    }
    await until('the program says it', look, { timeoutMs: PATIENCE_MS, intervalMs: 50, explain: () => said })
  }
  return {
    pid,
    said: () => said,
    ended,
    exited,
    async ready() {
      await saidUntil(() => readyAt.test(said))
      return readyAt.exec(said)?.[1] ?? ''
    },
    says: (text) => saidUntil(() => said.includes(text)),
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
  /** Makes another user the owner of these paths in it; of all where none are named. */
  giveTo(uid: number, paths?: readonly string[]): void
  /** Something outside of the folder that goes with it. */
  removeLater(path: string): void
  remove(): void
}>

/** A folder of its own with a `chains.json` of two of the shared chains: to fund more would use up the bank. */
export function makeCluster(): StartCluster {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-start-'))
  const chains = JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile
  const chainsFile = join(folder, 'two-chains.json')
  const networks = chains.networks.filter(({ network }) => ['btc', 'eth'].includes(network))
  writeFileSync(chainsFile, JSON.stringify({ ...chains, networks }))
  // Another user must be able to enter a folder inside it.
  chmodSync(folder, 0o755)
  const removed = [folder]
  return {
    folder,
    chainsFile,
    giveTo(uid, paths = ['.', ...readdirSync(folder)]) {
      for (const path of paths) chownSync(join(folder, path), uid, uid)
    },
    removeLater: (path) => void removed.push(path),
    remove() {
      for (const path of removed) rmSync(path, { recursive: true, force: true })
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a partner's script would read them
export type Json = any

/** One request with the sandbox's key. */
export async function ask(url: string, body?: unknown): Promise<Readonly<{ status: number; body: Json }>> {
  const answer = await fetch(url, {
    headers: { 'x-api-key': 'sandbox', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: await answer.json() }
}

export const order = {
  fromCurrency: 'btc',
  fromNetwork: 'btc',
  toCurrency: 'eth',
  toNetwork: 'eth',
  fromAmount: '0.01',
  flow: 'standard',
  address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
}
