import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import { present } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import { createTimedValue } from '../../lib/timed-value.ts'
import type { Dex, DexNetwork } from '../../swap/domain/dex.ts'
import { noPoolPauses, poolPausesOf } from '../../swap/domain/pool-pauses.ts'
import type { PoolSource } from '../../swap/ports/pools.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { createDepthHistory, reportDepth } from '../pools/depth-history.ts'
import { type ListedTokens, liquidityOf, listedDepth, listPools } from '../pools/rank.ts'
import { createUnpausedPools } from '../pools/unpaused-pools.ts'
import { nativeCoin, parseCoinType } from './address-format.ts'
import { createPoolFollower } from './follow-pools.ts'
import { type Checkpoint, createSuiNode, type SuiNode } from './node.ts'
import type { PoolList } from './pool-entry.ts'
import { readCetusPool } from './read-cetus.ts'
import { createDeepbookReader } from './read-deepbook.ts'
import type { PoolReader } from './read-pools.ts'
import { readTurbosPool } from './read-turbos.ts'

export type SuiPoolsOptions = Readonly<{
  network: Network
  rpcUrls: readonly NodeEndpoint[]
  dexNetwork: DexNetwork
  /** Listed coin types. */
  tokens: readonly string[]
  /** `headAgeMaxMs`: the age of the newest checkpoint beyond which the node has stopped. */
  settings?: Readonly<{ headAgeMaxMs?: number }>
  staleMs?: number
  log?: Pick<Log, 'warn'>
  now?: () => number
}>

const createReaders = (): ReadonlyMap<string, PoolReader> =>
  new Map([
    ['cetus', readCetusPool],
    ['deepbook', createDeepbookReader()],
    ['turbos', readTurbosPool],
  ])

function poolListsOf({ dexes }: DexNetwork): readonly PoolList[] {
  const readers = createReaders()
  return dexes.flatMap((dex) => {
    const reader = readers.get(dex.kind)
    return reader === undefined || dex.enabled === false ? [] : [{ dex, reader }]
  })
}

/** Turns from one comparison of a pool with the next node to the next. */
const TURNS_PER_COMPARISON = 20
const TURNS_AFTER_FAILURE = 400
/** Age of the reading of a pool beyond which no quote uses it. */
const STALE_MS = 30_000
const GAS_PRICE_MS = 5_000
/** One map for all states: the router keeps its markets while the maps are the same. */
const noRefusedTokens: ReadonlyMap<string, string> = new Map()
const MILLION = 1_000_000n

function listingOf({ dexNetwork, tokens }: SuiPoolsOptions): ListedTokens {
  const canonical = (list: readonly string[]) => list.flatMap((type) => parseCoinType(type) ?? [])
  const connectors = new Set([nativeCoin, ...canonical(dexNetwork.connectors)])
  return { wrapped: nativeCoin, connectors, listed: new Set([...connectors, ...canonical(tokens)]) }
}

/** What is read of a node and kept between the turns. */
function createReads({ network, dexNetwork, log, staleMs = STALE_MS, now = Date.now }: SuiPoolsOptions) {
  const lists = poolListsOf(dexNetwork)
  const follower = createPoolFollower({ lists, staleMs, now })
  const loggedFaults = new Map<string, string>()
  const gasPrice = createTimedValue(GAS_PRICE_MS, now, (node: SuiNode) => node.readGasPrice())
  let stablecoin: Readonly<{ token: string; unit: number }> | null = null

  async function readStablecoin(node: SuiNode): Promise<void> {
    const token = parseCoinType(dexNetwork.stablecoin ?? '')
    if (stablecoin !== null || token === null) return
    const metadata = await node.readCoinMetadata(token)
    if (metadata?.decimals !== undefined) stablecoin = { token, unit: 10 ** metadata.decimals }
  }

  /** Once, until they change. */
  function logFaults(dex: Dex): void {
    const fault = [...new Set(follower.faultsOf(dex))].join('; ')
    if (fault !== '' && fault !== loggedFaults.get(dex.name))
      log?.warn({ network: network.id, dex: dex.name, fault }, 'pools are not used')
    loggedFaults.set(dex.name, fault)
  }

  return {
    gasPrice: () => gasPrice.value() ?? 0n,
    stablecoin: () => stablecoin,
    readNewest: follower.readNewest,
    compareNext: follower.compareNext,
    async follow(turn: Omit<Parameters<typeof follower.advance>[0], 'gasPrice'>): Promise<void> {
      const { node } = turn
      await readStablecoin(node)
      await gasPrice.refresh(node)
      await follower.advance({ ...turn, gasPrice: gasPrice.value() ?? 0n })
    },
    pools(): readonly Pool[] {
      for (const { dex } of lists) logFaults(dex)
      return follower.pools()
    },
  }
}

/** A node that does not answer contradicts nothing. Waiting for it makes the pools older, so it is not asked again soon. */
function createComparison({ compareNext }: Pick<ReturnType<typeof createReads>, 'compareNext'>) {
  let turnsLeft = TURNS_PER_COMPARISON
  let differences = 0
  return {
    differences: () => differences,
    async next(other: SuiNode): Promise<void> {
      if (--turnsLeft > 0) return
      turnsLeft = TURNS_PER_COMPARISON
      try {
        if (await compareNext(other)) differences++
      } catch {
        turnsLeft = TURNS_AFTER_FAILURE
      }
    },
  }
}

/**
 * The pools of a Sui network, which its DEXes name. Each turn reads the new checkpoints and the objects that they changed. The state is that
 * after the newest checkpoint, or later by transactions that the next one contains. A pool that cannot be brought there keeps its state for
 * `staleMs`, and is then left out.
 */
export function createSuiPools(options: SuiPoolsOptions): PoolSource {
  const { network, rpcUrls, settings, now = Date.now } = options
  const { headAgeMaxMs = Number.POSITIVE_INFINITY } = settings ?? {}
  const nodes = rpcUrls.map((url, n) => createSuiNode(`${network.id} pools node ${n + 1}`, url, network.genesis))
  const listing = listingOf(options)
  const depths = createDepthHistory()
  const reads = createReads(options)
  const comparison = createComparison(reads)
  let current = 0
  let pauses = noPoolPauses
  let pools: readonly Pool[] = []
  const filterPaused = createUnpausedPools()
  const unpaused = () => filterPaused(pools, pauses)
  let at: Readonly<{ tip: Checkpoint; readAtMs: number }> | null = null

  async function advance(node: SuiNode): Promise<void> {
    // First: what the checkpoints up to the tip do not explain is later than they are.
    const newest = await reads.readNewest(node)
    const tip = await node.readTip()
    const ageMs = now() - tip.atMs
    if (ageMs > headAgeMaxMs)
      throw new AppError('NETWORK_UNAVAILABLE', `the newest checkpoint is ${Math.round(ageMs / 1000)} s old`)
    await reads.follow({ node, newest, tip })
    if (nodes.length > 1) await comparison.next(present(nodes[(current + 1) % nodes.length], 'a node'))
    const next = reads.pools()
    const isSame = next.length === pools.length && next.every((pool, n) => pool === pools[n])
    if (!isSame) pools = next
    at = { tip, readAtMs: now() }
  }

  return {
    network: network.id,
    current() {
      if (at === null) return null
      const { tip, readAtMs } = at
      return {
        ...{ block: { height: tip.height, hash: tip.hash }, readAtMs, head: tip.height, pools: unpaused() },
        ...{ listed: listing.listed, refusedTokens: noRefusedTokens, millionGasPrice: reads.gasPrice() * MILLION },
        ...{ wrapped: nativeCoin, nativeDecimals: network.decimals },
      }
    },
    counts: () => ({ reorgs: 0, differences: comparison.differences(), rereads: 0 }),
    liquidity: () => liquidityOf(unpaused(), listing, reads.stablecoin()),
    listPools: () => listPools(pools, unpaused(), listing, reads.stablecoin()),
    depth: () => reportDepth(depths, listedDepth(pools, listing), now()),
    pause(scopes) {
      pauses = poolPausesOf(scopes, network.id)
    },
    // All pools are known from the start.
    request: () => undefined,
    async advance() {
      try {
        await advance(present(nodes[current % nodes.length], 'a node'))
      } catch (error) {
        current++
        throw error
      }
      return undefined
    },
  }
}
