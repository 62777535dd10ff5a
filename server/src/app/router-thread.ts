import { type MessagePort, parentPort } from 'node:worker_threads'
import pLimit from 'p-limit'
import { createNetworkPools } from '../adapters/dex/network-pools.ts'
import type { NetworkPoolsOptions, PoolSettings } from '../adapters/dex/sync-context.ts'
import type { ToThread } from '../adapters/router/messages.ts'
import { serveRoutes } from '../adapters/router/serve-routes.ts'
import { createThreadLog, createThreadSnapshots } from '../adapters/router/thread-proxies.ts'
import { createSolanaPools } from '../adapters/solana/pools.ts'
import { createSuiPools } from '../adapters/sui/pools.ts'
import type { Family, Network } from '../core/domain/network.ts'
import { present } from '../lib/assert.ts'
import type { NodeEndpoint } from '../lib/node-endpoint.ts'
import type { DexNetwork } from '../swap/domain/dex.ts'
import type { PoolSource } from '../swap/ports/pools.ts'

/** The first message to the thread; app/router.ts creates it. */
export type RouterThreadInput = Readonly<{
  networks: readonly Readonly<{
    network: Network
    rpcUrls: readonly NodeEndpoint[]
    dexNetwork: DexNetwork
    tokens: readonly string[]
    settings: Partial<PoolSettings>
  }>[]
  budgetMs: number
}>

/** Maximum age of a pool state that may answer a quote. */
const STALE_MS = 30_000
const STALE_BLOCKS = 10
const PACE_MIN_MS = 250
const PACE_MAX_MS = 2_000
/** Networks that read all of their pools at the same time. */
const HEAVY_AT_ONCE = 2

type SourceOptions = NetworkPoolsOptions & Readonly<{ staleMs: number }>

/** How the pools of a network are followed. */
const createSourceByFamily: Readonly<Partial<Record<Family, (options: SourceOptions) => PoolSource>>> = {
  evm: createNetworkPools,
  solana: createSolanaPools,
  sui: createSuiPools,
}

function createSource(options: SourceOptions): PoolSource {
  const { family } = options.network
  return present(createSourceByFamily[family], `a source of pools of the family ${family}`)(options)
}

function begin(port: MessagePort, { networks, budgetMs }: RouterThreadInput): void {
  const log = createThreadLog(port, { component: 'router' })
  const snapshots = createThreadSnapshots(port)
  const fullReadLimit = pLimit(HEAVY_AT_ONCE)
  serveRoutes({
    port,
    log,
    budgetMs,
    networks: networks.map(({ network, rpcUrls, dexNetwork, tokens, settings }) => {
      const staleMs = Math.max(STALE_MS, STALE_BLOCKS * network.blockTimeMs)
      return {
        source: createSource({
          network,
          rpcUrls,
          dexNetwork,
          tokens,
          snapshots,
          fullReadLimit,
          log,
          settings,
          staleMs,
        }),
        paceMs: Math.min(PACE_MAX_MS, Math.max(PACE_MIN_MS, network.blockTimeMs / 2)),
        blockTimeMs: network.blockTimeMs,
        staleMs,
      }
    }),
  })
}

const port = present(parentPort, 'the other side')
// All modules are loaded before the first message arrives: `start` opens the thread before it knows the networks.
port.once('message', (message: ToThread) => {
  if (message.kind === 'begin') begin(port, message.input as RouterThreadInput)
})
