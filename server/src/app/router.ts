import type { Worker } from 'node:worker_threads'
import { dexNetworks } from '../../dexes/index.ts'
import { networks as definitions } from '../../networks/index.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createPoolSnapshots } from '../adapters/postgres/swap/pool-snapshots.ts'
import type { RouterMetrics } from '../adapters/router/router-metrics.ts'
import { createThreadRouter, openThread, type ThreadRouter } from '../adapters/router/thread-router.ts'
import { type Environment, resolveNetwork } from '../core/domain/network.ts'
import type { Log } from '../lib/log.ts'
import type { NodeEndpoint } from '../lib/node-endpoint.ts'
import type { DexNetwork } from '../swap/domain/dex.ts'
import type { PoolsDepth } from '../swap/ports/pools.ts'
import type { RouterThreadInput } from './router-thread.ts'
import type { ChainsFile } from './sandbox-chains.ts'

/** A network on which the router searches routes. */
export type RoutedNetwork = Readonly<{
  /** Used in order: the next one if one fails or stalls. */
  rpcUrls: readonly NodeEndpoint[]
  dexNetwork: DexNetwork
  /** Listed tokens, whose pools are discovered at the start. Addresses in any case. */
  tokens: readonly string[]
}>

export type RouterOptions = Readonly<{
  environment: Environment
  networks: readonly RoutedNetwork[]
  database: Database
  /** Scopes of pools that routes must not use. */
  pauses: () => ReadonlySet<string>
  /** Receives every report of a network's depth: the alarm `pool-depth:` depends on it. */
  onDepth: (network: string, depth: PoolsDepth) => void
  log: Log
  metrics: RouterMetrics
  /** Time limit of a search, in ms; it then returns the best route so far. */
  budgetMs?: number
  /** From `openRouterThread`. */
  thread?: Worker
}>

/** Time limit of one search. */
export const BUDGET_MS = 150
/** Maximum age of the newest block, in ms and in block times. Not applied in the sandbox, where mining can be paused. */
const HEAD_AGE_MS = 90_000
const HEAD_AGE_BLOCKS = 20

const ENTRY = new URL('./router-thread.ts', import.meta.url)

/** Loads the router's modules while the networks are still starting. */
export const openRouterThread = (): Worker => openThread(ENTRY)

/** Starts the router thread. Until a network's pools are read, its `state` is null and its quotes are refused. */
export function startRouter(options: RouterOptions): ThreadRouter {
  const { environment, networks, database, log, metrics, budgetMs = BUDGET_MS, thread, pauses, onDepth } = options
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
    pauses,
    onDepth,
    ...(thread === undefined ? {} : { opened: thread }),
  })
}

/** The sandbox's networks and their DEXes, from chains.json. */
export function sandboxRouting(networks: ChainsFile['networks']): readonly RoutedNetwork[] {
  return networks.flatMap((chain) => {
    const { network, rpcUrls, tokens, wrapped, coinIsToken, hubs, dexes, contracts, defiTokens, lookupTables } = chain
    if (wrapped === undefined || hubs === undefined || dexes === undefined) return []
    const others = defiTokens ?? []
    const stablecoin = tokens['usdc'] ?? others.find(({ symbol }) => symbol === 'USDC')?.address
    const multicall3 = contracts?.['multicall3']
    const dexNetwork: DexNetwork = {
      network,
      wrapped,
      nativeIsToken: coinIsToken ?? false,
      connectors: hubs,
      dexes,
      ...(stablecoin === undefined ? {} : { stablecoin }),
      ...(multicall3 === undefined ? {} : { multicall3 }),
      ...(lookupTables === undefined ? {} : { lookupTables }),
    }
    return [{ rpcUrls, dexNetwork, tokens: [...Object.values(tokens), ...others.map(({ address }) => address)] }]
  })
}

export type OperatorDexes = Readonly<{
  /** Connector tokens by network. */
  connectors: ReadonlyMap<string, readonly string[]>
  /** Lookup tables by network; of Solana. */
  lookupTables: ReadonlyMap<string, readonly string[]>
  /** Packages and pools by network and name of the DEX. */
  dexes: ReadonlyMap<string, ReadonlyMap<string, Readonly<{ package: string | null; pools: readonly string[] }>>>
}>

/** The configured networks and their DEXes, from the files in `server/dexes`, with what the operator adds. */
export function productionRouting(
  nodes: readonly Readonly<{ network: string; rpcUrls: readonly NodeEndpoint[] }>[],
  tokensOf: (network: string) => readonly string[],
  { connectors, lookupTables, dexes: own }: OperatorDexes,
): readonly RoutedNetwork[] {
  return nodes.flatMap(({ network, rpcUrls }) => {
    const known = dexNetworks.find((one) => one.network === network)
    if (known === undefined) return []
    const dexNetwork = {
      ...known,
      connectors: [...known.connectors, ...(connectors.get(network) ?? [])],
      lookupTables: lookupTables.get(network) ?? [],
      dexes: known.dexes.map((dex) => {
        const { package: factory, pools = [] } = own.get(network)?.get(dex.name) ?? {}
        const listed = pools.length === 0 ? {} : { pools: [...new Set([...(dex.pools ?? []), ...pools])] }
        return { ...dex, factory: factory ?? dex.factory, ...listed }
      }),
    }
    return [{ rpcUrls, dexNetwork, tokens: tokensOf(network) }]
  })
}
