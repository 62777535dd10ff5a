import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProgram } from '../../test/support/describe-with.ts'
import { PATIENCE_MS } from '../../test/support/patience.ts'
import { until } from '../../test/support/until.ts'
import { createJsonRpc, type JsonRpc } from '../src/json-rpc.ts'

const entry = new URL('../src/main.ts', import.meta.url).pathname

export type ChainsFile = {
  controlUrl: string
  pid: number
  networks: {
    network: string
    family: string
    chainId?: number
    client: string
    rpcUrls: string[]
    tokens: Record<string, string>
  }[]
}
type Answer = { status: number; body: Record<string, unknown> }

export type RunningSandbox = Readonly<{
  process: ChildProcess
  output(): string
  startMs: number
  chains: ChainsFile
  rpc(network: string): JsonRpc
  get(path: string): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
  /** Sends the signal and waits for the exit. Returns the exit code, or null after a signal. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}>

export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'swapyard-sandbox-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Starts the sandbox as a child process and waits until it prints `ready`. */
export async function runSandbox(
  folder: string,
  networks: string,
  extraArgs: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<RunningSandbox> {
  const startedAt = performance.now()
  const child = launch(folder, networks, extraArgs, environment)
  await until('ready', () => child.text().split('\n').includes('ready') || child.process.exitCode !== null)
  if (child.process.exitCode !== null) throw new Error(`the sandbox exited: ${child.text()}`)
  const startMs = Math.round(performance.now() - startedAt)
  const chains = JSON.parse(readFileSync(join(folder, 'chains.json'), 'utf8')) as ChainsFile
  const clients = new Map<string, JsonRpc>()
  const request = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${chains.controlUrl}${path}`, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return {
    process: child.process,
    output: child.text,
    startMs,
    chains,
    rpc(network) {
      const url = chains.networks.find((one) => one.network === network)?.rpcUrls[0] ?? ''
      const client = clients.get(network) ?? createJsonRpc(url)
      clients.set(network, client)
      return client
    },
    get: (path) => request(path, {}),
    post: (path, body) =>
      request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    async stop(signal = 'SIGTERM') {
      for (const client of clients.values()) client.close()
      const ended = new Promise<number | null>((resolve) => child.process.once('exit', resolve))
      child.process.kill(signal)
      return ended
    },
  }
}

export function launch(
  folder: string,
  networks: string,
  extraArgs: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
) {
  const args = [entry, '--data-dir', folder, '--networks', networks, ...extraArgs]
  const process_ = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  let text = ''
  for (const stream of [process_.stdout, process_.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { process: process_, text: () => text }
}

export const bitcoinFamily = hasProgram('litecoind') ? ['btc', 'ltc'] : ['btc']
export const testedNetworks = [...bitcoinFamily, 'eth']
