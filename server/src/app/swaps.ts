import type { Worker } from 'node:worker_threads'
import { networks as definitions } from '../../networks/index.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createIdempotencyStore } from '../adapters/postgres/core/idempotency.ts'
import { isOwnAddress } from '../adapters/postgres/core/own-addresses.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { createBuiltApprovals } from '../adapters/postgres/swap/approvals.ts'
import { createBuiltExternalIds } from '../adapters/postgres/swap/built-external-ids.ts'
import { createFeeAccounts } from '../adapters/postgres/swap/fee-accounts.ts'
import { createSwapFeeStore } from '../adapters/postgres/swap/swap-fees.ts'
import { createSwapStore } from '../adapters/postgres/swap/swaps.ts'
import type { RouterMetrics } from '../adapters/router/router-metrics.ts'
import { createSolanaAddressFormat } from '../adapters/solana/address-format.ts'
import { createSuiAddressFormat } from '../adapters/sui/address-format.ts'
import { createEvmAddressFormat } from '../adapters/swap-chain/address-format.ts'
import { createEvmSwapChain } from '../adapters/swap-chain/chain.ts'
import { createPackageLists } from '../adapters/token-lists/package-lists.ts'
import type { SwapConfig } from '../config/swaps.ts'
import type { Catalogue } from '../core/domain/catalogue.ts'
import { AppError } from '../core/domain/errors.ts'
import { type Environment, type Family, type Network, resolveNetwork, type SwapFamily } from '../core/domain/network.ts'
import type { NodeNote } from '../core/ports/chain.ts'
import type { DatabaseClock } from '../core/services/database-clock.ts'
import { createWithIdempotency } from '../core/services/with-idempotency.ts'
import type { BookSnapshot } from '../exchange/quotes/book-snapshot.ts'
import { present } from '../lib/assert.ts'
import { createHttp } from '../lib/http.ts'
import type { Log } from '../lib/log.ts'
import type { NodeEndpoint } from '../lib/node-endpoint.ts'
import { createBuildSwap } from '../swap/build/build-swap.ts'
import { createRouteReliability } from '../swap/build/route-reliability.ts'
import { createSwapRefs } from '../swap/build/swap-refs.ts'
import type { Dex } from '../swap/domain/dex.ts'
import { swapNetworks } from '../swap/domain/swap.ts'
import { createFeeAddresses } from '../swap/fees/fee-addresses.ts'
import {
  type OwnTokens,
  type PoolReads,
  type SwapNetworkView,
  type SwapServices,
  type SwapSettings,
  swapDefaults,
} from '../swap/interfaces.ts'
import { createSwapNetworks, type SwapNetwork, type SwapNetworks } from '../swap/networks.ts'
import type { Router } from '../swap/ports/router.ts'
import type { SwapChain } from '../swap/ports/swap-chain.ts'
import { type AggregatorReliability, createAggregatorReliability } from '../swap/quotes/aggregator-reliability.ts'
import { createDepthAlarm } from '../swap/quotes/depth-alarm.ts'
import { createQuoteSwap } from '../swap/quotes/quote-swap.ts'
import { createReferenceOut, createSwapValues } from '../swap/quotes/swap-values.ts'
import { createSendApproval } from '../swap/send/send-approval.ts'
import { createSendSwap } from '../swap/send/send-swap.ts'
import { createListTokens } from '../swap/tokens/list-tokens.ts'
import { createListedTokens } from '../swap/tokens/listed-tokens.ts'
import { createReadPools } from '../swap/tokens/read-pools.ts'
import { createReadToken } from '../swap/tokens/read-token.ts'
import { createTokenCache } from '../swap/tokens/token-cache.ts'
import { createFindSwap, createListSwaps } from '../swap/track/list-swaps.ts'
import { createReconcileFees } from '../swap/track/reconcile-fees.ts'
import { createScanFeeEvents } from '../swap/track/scan-fee-events.ts'
import { createTrackSwap } from '../swap/track/track-swap.ts'
import { type AggregatorOffer, type Asking, composeAggregators } from './aggregators.ts'
import type { OnNodeNote } from './chains.ts'
import type { MailSettings } from './events.ts'
import { productionRouting, type RoutedNetwork, sandboxRouting, startRouter } from './router.ts'
import type { ChainsFile } from './sandbox-chains.ts'
import { sandboxFeeAddress } from './sandbox-fees.ts'
import { createScreening } from './screening.ts'

export type SwapOffer = Readonly<{
  /** Served networks with their nodes and DEXes. */
  routing: readonly RoutedNetwork[]
  /** Ready networks by ticker, in addition to those of `routing`. For tests. */
  served?: ReadonlyMap<string, SwapNetwork>
  /** Additional listed tokens by network; in the sandbox they replace the published lists. */
  ownTokens: ReadonlyMap<string, OwnTokens>
  settings?: Partial<SwapSettings>
  /** Aggregators that compete with our own router. */
  aggregators?: AggregatorOffer
}>

export type SwapOptions = Readonly<{
  environment: Environment
  /** Absent: no network is served. */
  swaps?: SwapOffer
  /** The router thread, if it was opened before the networks were known. */
  routerThread?: Worker | null
  pepper: Uint8Array
  denied: readonly string[]
  /** Absent: no e-mails are sent. */
  mail?: MailSettings | null
  log: Log
  metrics?: Pick<RouterMetrics, 'swapMoved' | 'aggregatorQuoteBuilt'>
}>

type SwapDependencies = Readonly<{
  database: Database
  catalogue: Catalogue
  books: BookSnapshot
  clock: DatabaseClock
  onNodeNote?: OnNodeNote
}>

export type Swaps = Readonly<{
  services: SwapServices
  /** For operators. */
  pools: PoolReads
  trackSwap(id: string): Promise<void>
  /** Compares the fees that the operator holds for partners with the chains. */
  reconcileFees(): Promise<void>
  /** By network, a scan of its events for fees of unreported swaps; true if more blocks are left to scan. */
  findFees: ReadonlyMap<string, () => Promise<boolean>>
  /** Why swaps cannot be quoted yet. A network that does not start in time no longer delays readiness. */
  starting(): readonly string[]
  stop(): Promise<void>
}>

const START_MS = 20_000
const SANDBOX_DROPPED_MS = 20_000
const SANDBOX_FEE_ADDRESS_MS = 60_000

/** The swap networks of the sandbox's chains. */
export function sandboxSwaps(networks: ChainsFile['networks']): SwapOffer {
  return {
    routing: sandboxRouting(networks),
    ownTokens: new Map(networks.map(({ network, defiTokens }) => [network, defiTokens ?? []])),
    settings: {
      droppedMs: SANDBOX_DROPPED_MS,
      feeAddressDelayMs: SANDBOX_FEE_ADDRESS_MS,
      feeAddresses: new Map(networks.map(({ network, family }) => [network, sandboxFeeAddress(family)])),
    },
  }
}

/** The swap networks of the operator's file and the published lists that have nodes. */
export function productionSwaps(
  nodes: readonly Readonly<{ network: string; rpcUrls: readonly NodeEndpoint[] }>[],
  { tokens, connectors, lookupTables, dexes, disabled, aggregators, aggregatorBudgetMs, ...settings }: SwapConfig,
): SwapOffer {
  const lists = createPackageLists()
  const tokensOf = (id: string): readonly string[] => {
    const chainId = definitions.find((one) => one.id === id)?.production.evm?.chainId ?? 0
    return [...(tokens.get(id) ?? []), ...lists.list(chainId)].map(({ address }) => address)
  }
  return {
    routing: productionRouting(
      nodes.filter(({ network }) => !disabled.has(network)),
      tokensOf,
      { connectors, lookupTables, dexes },
    ),
    ownTokens: tokens,
    settings,
    aggregators: { asked: aggregators, budgetMs: aggregatorBudgetMs },
  }
}

/** Opens the swap half with its router thread. A worker has no router. */
export async function openSwaps(
  options: SwapOptions & Readonly<{ metrics: RouterMetrics; api: Readonly<{ operationsOnly?: boolean }> }>,
  dependencies: SwapDependencies,
): Promise<Swaps> {
  const { environment, swaps, routerThread: thread, log, metrics, api } = options
  const networks = withCatalogueTokens(swaps?.routing ?? [], dependencies.catalogue)
  const isQuoting = networks.length > 0 && !api.operationsOnly
  const { database, books } = dependencies
  const pauses = () => books.current().pauses.pools ?? noScopes
  const onDepth = createDepthAlarm(createStore(database).alarms, log)
  const router = isQuoting
    ? startRouter({ environment, networks, database, pauses, onDepth, log, metrics, ...(thread ? { thread } : {}) })
    : null
  // Started speculatively; not needed for this role.
  if (router === null) void thread?.terminate()
  const http = createHttp()
  const asking = composeAggregators(http, swaps?.aggregators)
  const startedAt = performance.now()
  return {
    ...(await createSwapServices(options, { ...dependencies, router: router ?? noRouter, ...asking })),
    starting: () => {
      if (router === null || performance.now() - startedAt > START_MS) return []
      const missing = networks.filter(({ dexNetwork }) => router.state(dexNetwork.network) === null)
      return missing.map(({ dexNetwork }) => `the pools of ${dexNetwork.network} are not read yet`)
    },
    stop: async () => {
      await Promise.all([router?.stop(), http.close()])
    },
  }
}

const noScopes: ReadonlySet<string> = new Set()

/** The tokens of the operator's currencies are listed, too. */
function withCatalogueTokens(networks: readonly RoutedNetwork[], catalogue: Catalogue): readonly RoutedNetwork[] {
  const assets = catalogue.list().map(({ asset }) => asset)
  return networks.map((one) => {
    const contracts = assets.flatMap(({ network, contract }) =>
      network === one.dexNetwork.network && contract !== null ? [contract] : [],
    )
    return { ...one, tokens: [...new Set([...one.tokens, ...contracts])] }
  })
}

const noRouter: Router = {
  route: () => Promise.reject(new AppError('NETWORK_UNAVAILABLE', 'this process does not quote swaps')),
  state: () => null,
  liquidity: () => new Map(),
  depth: () => null,
  listPools: () => Promise.reject(new AppError('NETWORK_UNAVAILABLE', 'this process does not quote swaps')),
}

function composeReliability({ swaps, metrics }: SwapOptions, now: () => number): AggregatorReliability {
  const { halfLifeMs } = swaps?.aggregators ?? {}
  return createAggregatorReliability({
    now,
    ...(halfLifeMs === undefined ? {} : { halfLifeMs }),
    ...(metrics ? { onBuilt: metrics.aggregatorQuoteBuilt } : {}),
  })
}

/** The services of the swap half. Without any network, each call answers that the network is not served. */
export async function createSwapServices(
  options: SwapOptions,
  dependencies: SwapDependencies & Asking & Readonly<{ router: Router }>,
): Promise<Pick<Swaps, 'services' | 'pools' | 'trackSwap' | 'reconcileFees' | 'findFees'>> {
  const { books, clock, router, database } = dependencies
  const { environment, swaps: offer } = options
  const settings: SwapSettings = { ...swapDefaults, ...offer?.settings }
  const served = new Map([
    ...(await serveNetworks(environment, offer?.routing ?? [], dependencies.onNodeNote)),
    ...(offer?.served ?? []),
  ])
  const networks = createSwapNetworks(served, books, families)
  const listed = listedTokens(options, dependencies, served)
  const { find: findToken, peek } = createTokenCache(listed, clock.now)
  // The wrapped native is on no sandbox list but often requested: its metadata is read at the start.
  for (const { chain } of served.values()) peek(chain, chain.wrapped)
  const valuesDeps = { books, priceKeyOf: priceKeys(dependencies.catalogue, served), now: clock.now }
  const shared = {
    networks,
    router,
    askAggregators: dependencies.askAggregators,
    buildAggregatorCall: dependencies.buildAggregatorCall,
    reliability: composeReliability(options, clock.now),
    routes: createRouteReliability({
      now: clock.now,
      onRecorded: (network, pool) => options.log.warn({ network, pool }, 'a route paid other than quoted'),
    }),
    listed,
    findToken,
    settings,
    feeAccounts: createFeeAccounts(database),
    isOwnAddress: (address: string) => isOwnAddress(database, address),
    approvals: createBuiltApprovals(database),
    externalIds: createBuiltExternalIds(database),
    swaps: createSwapStore(database),
    refs: createSwapRefs(options.pepper),
    screening: createScreening(options.denied, new Map()),
    withIdempotency: createWithIdempotency(createIdempotencyStore(database)),
    sendsMail: options.mail !== undefined && options.mail !== null,
    // The sandbox needs no mail server.
    requiresMail: environment !== 'sandbox',
    valuesOf: createSwapValues(valuesDeps),
    referenceOutOf: createReferenceOut(valuesDeps),
    poolPauses: () => books.current().pauses.pools ?? noScopes,
    now: clock.now,
    databaseNow: clock.databaseNow,
    log: options.log,
    ...(options.metrics ? { onMoved: options.metrics.swapMoved } : {}),
  }
  return {
    services: {
      listNetworks: () => listNetworks(networks, dependencies.catalogue),
      listTokens: createListTokens(shared),
      readToken: createReadToken(shared),
      quoteSwap: createQuoteSwap({ ...shared, findToken: peek }),
      buildSwap: createBuildSwap(shared),
      sendApproval: createSendApproval(shared),
      sendSwap: createSendSwap(shared),
      findSwap: createFindSwap(shared),
      listSwaps: createListSwaps(shared),
      ...createFeeAddresses(shared),
    },
    pools: createReadPools({ ...shared, served: [...served.keys()], findToken: peek }),
    trackSwap: createTrackSwap(shared),
    reconcileFees: createReconcileFees({ ...shared, alarms: createStore(database).alarms }),
    findFees: createScanFeeEvents({ ...shared, served: [...served.keys()], fees: createSwapFeeStore(database) }),
  }
}

function listNetworks(networks: SwapNetworks, catalogue: Catalogue): readonly SwapNetworkView[] {
  return swapNetworks.map((network) => ({
    network,
    chainId: catalogue.findNetwork(network)?.evm?.chainId ?? null,
    enabled: networks.find(network) !== null && !networks.isPaused(network),
  }))
}

/** By ticker. */
export async function serveNetworks(
  environment: Environment,
  routing: readonly RoutedNetwork[],
  onNodeNote: OnNodeNote = () => undefined,
): Promise<ReadonlyMap<string, SwapNetwork>> {
  const served = routing.map(
    async (one) => [one.dexNetwork.network, await toServed(environment, one, onNodeNote)] as const,
  )
  return new Map(await Promise.all(served))
}

/** The address formats of all families that may have rows. */
const families = [createEvmAddressFormat(), createSolanaAddressFormat(), createSuiAddressFormat()]

type ChainOptions = Readonly<{
  network: Network
  rpcUrls: readonly NodeEndpoint[]
  wrapped: string
  nativeIsToken: boolean
  dexes: readonly Dex[]
  lookupTables: readonly string[]
  note(note: NodeNote): void
}>
type CreateChain = (options: ChainOptions) => SwapChain
/** The modules of Solana and Sui are loaded only where such a network is served: they are a fifth of those of a start. */
const createChainByFamily: Readonly<Partial<Record<Family, () => Promise<CreateChain>>>> = {
  evm: async () => createEvmSwapChain,
  solana: async () => (await import('../adapters/solana/chain.ts')).createSolanaSwapChain,
  sui: async () => (await import('../adapters/sui/chain.ts')).createSuiSwapChain,
} satisfies Record<SwapFamily, unknown>

async function toServed(
  environment: Environment,
  { rpcUrls, dexNetwork }: RoutedNetwork,
  onNodeNote: OnNodeNote,
): Promise<SwapNetwork> {
  const definition = definitions.find(({ id }) => id === dexNetwork.network)
  const network = resolveNetwork(present(definition, `the network ${dexNetwork.network}`), environment)
  const nativeIsToken = dexNetwork.nativeIsToken ?? false
  const { wrapped, dexes, lookupTables = [] } = dexNetwork
  const note = (one: NodeNote) => onNodeNote(network.id, one)
  const load = present(createChainByFamily[network.family], `a swap chain of the family ${network.family}`)
  const createChain = await load()
  return { chain: createChain({ network, rpcUrls, wrapped, nativeIsToken, dexes, lookupTables, note }), nativeIsToken }
}

function listedTokens(
  { environment, swaps }: SwapOptions,
  { catalogue }: SwapDependencies,
  served: ReadonlyMap<string, SwapNetwork>,
) {
  const lists = createPackageLists()
  const ofCatalogue = (id: string): OwnTokens =>
    catalogue.list().flatMap(({ asset, definition, enabled }) => {
      const { contract, decimals } = asset
      if (asset.network !== id || contract === null || (environment === 'sandbox' && !enabled)) return []
      return [{ address: contract, decimals, name: definition.name, symbol: definition.symbol }]
    })
  return createListedTokens({
    own: (id) =>
      [...(swaps?.ownTokens.get(id) ?? []), ...ofCatalogue(id)].map((token) => ({
        ...token,
        address: served.get(id)?.chain.parse(token.address) ?? token.address,
      })),
    // The sandbox lists only tokens that are deployed there.
    published: (id) => (environment === 'sandbox' ? [] : lists.list(served.get(id)?.chain.network.evm?.chainId ?? 0)),
    hidden: (id) => coinsOwn(served.get(id)),
  })
}

/** Addresses that lists name as tokens but that are the native coin, which is listed anyway. */
export function coinsOwn(network: SwapNetwork | undefined): ReadonlySet<string> {
  const { nativeContract } = network?.chain.network.evm ?? {}
  return new Set([
    ...(network ? [network.chain.native] : []),
    ...(network?.nativeIsToken ? [network.chain.wrapped] : []),
    ...(nativeContract ? [nativeContract] : []),
  ])
}

/** By network and canonical contract address, or `native`. */
function priceKeys(
  catalogue: Catalogue,
  served: ReadonlyMap<string, SwapNetwork>,
): (network: string, address: string) => string | null {
  const canonical = (network: string, contract: string) => served.get(network)?.chain.parse(contract) ?? contract
  const keys = new Map(
    catalogue
      .list()
      .map(({ asset, definition }) => [
        `${asset.network} ${asset.contract === null ? 'native' : canonical(asset.network, asset.contract)}`,
        definition.priceKey,
      ]),
  )
  return (network, address) => keys.get(`${network} ${address}`) ?? null
}
