import type { Worker } from 'node:worker_threads'
import { dexNetworks } from '../../dexes/index.ts'
import { networks as definitions } from '../../networks/index.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createPoolSnapshots } from '../adapters/postgres/swap/pool-snapshots.ts'
import type { RouterMetrics } from '../adapters/router/router-metrics.ts'
import { createThreadRouter, openThread, type ThreadRouter } from '../adapters/router/thread-router.ts'
import { type Environment, resolveNetwork } from '../core/domain/network.ts'
import type { Log } from '../lib/log.ts'
import type { DexNetwork } from '../swap/domain/dex.ts'
import type { RouterThreadInput } from './router-thread.ts'
import type { ChainsFile } from './sandbox-chains.ts'

/** One network that is to be routed on. */
export type RoutedNetwork = Readonly<{
  /** Tried in turn: the next one where one fails or stands still. */
  rpcUrls: readonly string[]
  dexNetwork: DexNetwork
  /** Tokens whose pools are looked for from the beginning, addresses in any case: those that are listed. */
  tokens: readonly string[]
}>

export type RouterOptions = Readonly<{
  environment: Environment
  networks: readonly RoutedNetwork[]
  database: Database
  log: Log
  metrics: RouterMetrics
  /** A search ends with the best that it has after this time. */
  budgetMs?: number
  /** What `openRouterThread` made. */
  thread?: Worker
}>

const BUDGET_MS = 150
/** Blocks that a chain may skip before its newest counts as old; a sandbox's clock may be stopped by whoever plays with it. */
const HEAD_AGE_MS = 90_000
const HEAD_AGE_BLOCKS = 20

const ENTRY = new URL('./router-thread.ts', import.meta.url)

/** Loads the router's program while its networks are not up yet. */
export const openRouterThread = (): Worker => openThread(ENTRY)

/** Starts the router's thread. Its networks come in one by one: `state` is null, and quotes are refused, until they are read. */
export function startRouter(options: RouterOptions): ThreadRouter {
  const { environment, networks, database, log, metrics, budgetMs = BUDGET_MS, thread } = options
  const workerInput: RouterThreadInput = {
    budgetMs,
    networks: networks.flatMap(({ rpcUrls, dexNetwork, tokens }) => {
      const definition = definitions.find(({ id }) => id === dexNetwork.network)
      if (definition === undefined || rpcUrls.length === 0) return []
      const network = resolveNetwork(definition, environment)
      const headAgeMaxMs = Math.max(HEAD_AGE_MS, HEAD_AGE_BLOCKS * network.blockTimeMs)
      const settings = environment === 'production' ? { headAgeMaxMs } : {}
      return [{ network, rpcUrls, dexNetwork, tokens, settings }]
    }),
  }
  return createThreadRouter({
    entry: ENTRY,
    workerInput,
    snapshots: createPoolSnapshots(database),
    log,
    metrics,
    ...(thread === undefined ? {} : { opened: thread }),
  })
}

/** What the sandbox's chains trade on, as chains.json has it. */
export function sandboxRouting(networks: ChainsFile['networks']): readonly RoutedNetwork[] {
  return networks.flatMap(({ network, rpcUrls, tokens, wrapped, coinIsToken, hubs, dexes, contracts, defiTokens }) => {
    if (wrapped === undefined || hubs === undefined || dexes === undefined) return []
    const others = defiTokens ?? []
    const dollar = tokens['usdc'] ?? others.find(({ symbol }) => symbol === 'USDC')?.address
    const multicall3 = contracts?.['multicall3']
    const dexNetwork: DexNetwork = {
      network,
      wrapped,
      coinIsToken: coinIsToken ?? false,
      hubs,
      dexes,
      ...(dollar === undefined ? {} : { dollar }),
      ...(multicall3 === undefined ? {} : { multicall3 }),
    }
    return [{ rpcUrls, dexNetwork, tokens: [...Object.values(tokens), ...others.map(({ address }) => address)] }]
  })
}

/** What the networks of the configuration trade on, by the files of `server/dexes`. */
export function productionRouting(
  nodes: readonly Readonly<{ network: string; rpcUrls: readonly string[] }>[],
  tokensOf: (network: string) => readonly string[],
): readonly RoutedNetwork[] {
  return nodes.flatMap(({ network, rpcUrls }) => {
    const dexNetwork = dexNetworks.find((one) => one.network === network)
    return dexNetwork === undefined ? [] : [{ rpcUrls, dexNetwork, tokens: tokensOf(network) }]
  })
}
