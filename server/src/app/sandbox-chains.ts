import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Dex } from '../swap/domain/dex.ts'
import type { NetworkNodes } from './chains.ts'

/** The file that the sandbox chains write when they are ready. */
export type ChainsFile = Readonly<{
  controlUrl: string
  pid: number
  networks: readonly Readonly<{
    network: string
    family: string
    client: string
    chainId?: number
    rpcUrls: readonly string[]
    tokens: Record<string, string>
    /** The DEXes of the chain, if it has a market (sandbox/src/market/snapshot.ts). */
    wrapped?: string
    coinIsToken?: boolean
    hubs?: readonly string[]
    dexes?: readonly Dex[]
    contracts?: Readonly<Record<string, string>>
    lookupTables?: readonly string[]
    defiTokens?: readonly Readonly<{ address: string; symbol: string; name: string; decimals: number }>[]
  }>[]
}>

type LiveChains = ChainsFile & Readonly<{ endWithServers: boolean }>

export type SandboxChains = Readonly<{
  controlUrl: string
  nodes: readonly NetworkNodes[]
  networks: ChainsFile['networks']
  /** Stops the chains if this process started them. */
  stop(): Promise<void>
}>

export type SandboxChainsOptions = Readonly<{
  file: string
  dataDir: string
  networks: readonly string[] | 'all' | null
  say(line: string): void
}>

const START_MS = 120_000
const STOP_MS = 15_000

/** Uses the chains of a live chains.json, or starts new ones. Resolves when that is decided; `up` resolves when they are usable. */
export async function startSandboxChains(options: SandboxChainsOptions): Promise<{ up: Promise<SandboxChains> }> {
  const isOwn = options.file === join(options.dataDir, 'chains.json')
  const running = await readLive(options.file)
  if (running) {
    options.say(`chains: using those of ${options.file}`)
    // A killed server of this data folder left them running: they now stop with this process.
    const inherited = running.endWithServers && isOwn
    const stop = () => (inherited ? stopProcess(running.pid) : Promise.resolve())
    return { up: Promise.resolve({ ...toChains(running), stop }) }
  }
  // Chains of another data folder are started by their owner; they may still be starting.
  return { up: waitUntilUp(options.file, isOwn ? launch(options) : null) }
}

async function waitUntilUp(file: string, child: ChildProcess | null): Promise<SandboxChains> {
  const started = await waitForFile(file, child)
  return { ...toChains(started), stop: () => (child ? stopChild(child) : Promise.resolve()) }
}

function launch({ dataDir, networks }: SandboxChainsOptions): ChildProcess {
  const main = join(import.meta.dirname, '../../../sandbox/src/main.ts')
  const list = networks === null ? [] : ['--networks', networks === 'all' ? 'all' : networks.join(',')]
  // A process group of their own: a signal to the server's group does not reach the chains. They exit when no server uses them.
  return spawn(process.execPath, [main, '--data-dir', dataDir, '--parent', String(process.pid), ...list], {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
}

async function waitForFile(file: string, child: ChildProcess | null): Promise<ChainsFile> {
  const deadline = Date.now() + START_MS
  for (;;) {
    const chains = await readLive(file)
    if (chains) return chains
    if (child !== null && child.exitCode !== null)
      throw new Error(`the sandbox chains exited with code ${child.exitCode}: see the lines above`)
    if (Date.now() > deadline) throw new Error(`no sandbox chains are ready at ${file} after two minutes`)
    await delay(50)
  }
}

/** Registers this process with the chains, which exit when no registered server is alive. */
async function readLive(file: string): Promise<LiveChains | null> {
  if (!existsSync(file)) return null
  try {
    const chains = JSON.parse(readFileSync(file, 'utf8')) as ChainsFile
    if (!isAlive(chains.pid)) return null
    const answer = await fetch(`${chains.controlUrl}/servers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pid: process.pid }),
      signal: AbortSignal.timeout(2_000),
    })
    if (!answer.ok) return null
    const { endWithServers } = (await answer.json()) as Pick<LiveChains, 'endWithServers'>
    return { ...chains, endWithServers }
  } catch {
    return null
  }
}

/** EPERM means that another user's process exists. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

const toChains = ({ controlUrl, networks }: ChainsFile) => ({
  controlUrl,
  networks,
  nodes: networks.map(({ network, rpcUrls, tokens }) => ({ network, rpcUrls, tokens })),
})

async function stopProcess(pid: number): Promise<void> {
  const deadline = Date.now() + STOP_MS
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    return
  }
  while (isAlive(pid) && Date.now() < deadline) await delay(50)
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await Promise.race([ended, delay(STOP_MS)])
}
