import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callOnce } from '@swapyard/lib/json-rpc.ts'
import { startPostgres } from '../../server/src/adapters/embedded-postgres/postgres.ts'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import { startChains } from '../support/chains.ts'
import type { Json } from '../support/until.ts'
import { type Crash, crashPostgres } from './postgres-crash.ts'

/** A Postgres and chains of one's own, which may be hurt: nobody else is on them. */
export type Cluster = Readonly<{
  folder: string
  /** Of the cluster; houses make databases of their own. */
  databaseUrl: string
  chains: ChainsFile
  /** One of the sandbox's controls. */
  control(path: string, body: unknown): Promise<Json>
  /** Asks a node directly. */
  call(network: string, method: string, params?: readonly unknown[]): Promise<Json>
  crash(how: Crash): void
  /** Takes away this many blocks and builds others; `drop`: what was in them is not in the new ones. */
  reorganize(network: string, depth: number, drop?: boolean): Promise<void>
  /** So far. */
  damage(): Readonly<{ crashes: number; reorgs: number }>
  stop(): Promise<void>
}>

export async function startCluster(networks: readonly string[]): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-chaos-'))
  const [postgres, sandbox] = await Promise.all([
    startPostgres({ dataDir: folder }),
    startChains(folder, networks, { logFile: join(folder, 'sandbox.log'), still: false }),
  ])
  const chains = JSON.parse(readFileSync(sandbox.file, 'utf8')) as ChainsFile
  const control: Cluster['control'] = (path, body) => post(chains.controlUrl + path, body)
  let crashes = 0
  let reorgs = 0
  return {
    folder,
    databaseUrl: postgres.url,
    chains,
    control,
    call: (network, method, params = []) => callNode(chains, network, method, params),
    crash: (how) => {
      crashes++
      crashPostgres(folder, how)
    },
    reorganize: async (network, depth, drop = false) => {
      await control('/reorgs', { network, depth, ...(drop ? { drop } : {}) })
      reorgs++
    },
    damage: () => ({ crashes, reorgs }),
    stop: async () => {
      await sandbox.stop()
      await postgres.stop()
      if (process.env['TEST_KEEP'] === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function post(url: string, body: unknown): Promise<Json> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })
  if (!answer.ok) throw new Error(`${new URL(url).pathname}: ${await answer.text()}`)
  return answer.json()
}

async function callNode(
  chains: ChainsFile,
  network: string,
  method: string,
  params: readonly unknown[],
): Promise<Json> {
  const node = chains.networks.find((one) => one.network === network)
  if (!node) throw new Error(`there is no chain ${network}`)
  return callOnce(node.rpcUrls[0] ?? '', method, params)
}
