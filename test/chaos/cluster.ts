import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callOnce } from '@swapyard/lib/json-rpc.ts'
import { startPostgres } from '../../server/src/adapters/embedded-postgres/postgres.ts'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import { startChains } from '../support/chains.ts'
import type { Json } from '../support/until.ts'
import { postControl } from './control.ts'
import { type Crash, crashPostgres, setPostgresStopped } from './postgres-crash.ts'

/** Postgres and chains that belong to this run, so that it may crash and reorganise them. */
export type Cluster = Readonly<{
  folder: string
  /** The cluster's administrative URL; each app has its own database. */
  databaseUrl: string
  chains: ChainsFile
  /** Calls the sandbox's control API. */
  control(path: string, body: unknown): Promise<Json>
  /** Calls a node directly. */
  call(network: string, method: string, params?: readonly unknown[]): Promise<Json>
  crash(how: Crash): void
  /** SIGSTOP to all processes of Postgres, or SIGCONT. */
  setStopped(isStopped: boolean): void
  /** Replaces the newest `depth` blocks. `drop`: the new blocks do not include the transactions of the old ones. */
  reorganize(network: string, depth: number, drop?: boolean): Promise<void>
  /** Blocks come only on request while `work` runs. */
  withMiningPaused<T>(network: string, work: () => Promise<T>): Promise<T>
  countFaults(): Readonly<{ crashes: number; stops: number; reorgs: number }>
  stop(): Promise<void>
}>

export async function startCluster(networks: readonly string[]): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-chaos-'))
  const [postgres, sandbox] = await Promise.all([
    startPostgres({ dataDir: folder }),
    startChains(folder, networks, { logFile: join(folder, 'sandbox.log'), still: false }),
  ])
  const chains = JSON.parse(readFileSync(sandbox.file, 'utf8')) as ChainsFile
  const control: Cluster['control'] = (path, body) => postControl(chains.controlUrl, path, body)
  let crashes = 0
  let stops = 0
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
    setStopped: (isStopped) => {
      if (isStopped) stops++
      setPostgresStopped(folder, isStopped)
    },
    reorganize: async (network, depth, drop = false) => {
      await control('/reorgs', { network, depth, ...(drop ? { drop } : {}) })
      reorgs++
    },
    withMiningPaused: async (network, work) => {
      await control('/mining', { network, paused: true })
      try {
        return await work()
      } finally {
        await control('/mining', { network, paused: false })
      }
    },
    countFaults: () => ({ crashes, stops, reorgs }),
    stop: async () => {
      await sandbox.stop()
      await postgres.stop()
      if (process.env['TEST_KEEP'] === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function callNode(
  chains: ChainsFile,
  network: string,
  method: string,
  params: readonly unknown[],
): Promise<Json> {
  const node = chains.networks.find((one) => one.network === network)
  if (!node) throw new Error(`the cluster has no chain ${network}`)
  return callOnce(node.rpcUrls[0] ?? '', method, params)
}
