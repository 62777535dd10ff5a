import { setTimeout as delay } from 'node:timers/promises'
import { createTimedValue } from '../../lib/timed-value.ts'
import { noPoolPauses, poolPausesOf } from '../../swap/domain/pool-pauses.ts'
import type { PoolSource, RouteLimits } from '../../swap/ports/pools.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { NetworkPoolsOptions } from '../dex/sync-context.ts'
import { createDepthHistory, reportDepth } from '../pools/depth-history.ts'
import { type ListedTokens, liquidityOf, listedDepth, listPools } from '../pools/rank.ts'
import { createUnpausedPools } from '../pools/unpaused-pools.ts'
import { createPoolLookup } from './admit-pools.ts'
import type { SolanaPool } from './dexes/solana-dex.ts'
import type { FoundPool } from './find-pools.ts'
import { readLookupTables } from './lookup-tables.ts'
import { createSolanaNodes, type SolanaNodes } from './nodes.ts'
import { blockAt, fitsTransaction } from './prepare.ts'
import { createPoolReader, type PoolStates, readEpoch } from './read-pools.ts'
import { createSlotProgress } from './slot-progress.ts'
import type { LookupTable } from './transaction.ts'
import { readUnitPrice } from './unit-price.ts'

/** Of an intermediate amount, at most this much stays with the user, whatever the slippage (decision 0107). */
const MARGIN_MAX_PPM = 10_000
const limitRoutes = (tables: readonly LookupTable[]): RouteLimits => ({
  ...{ hopsMax: 2, swapsMax: 4, marginMaxPpm: MARGIN_MAX_PPM },
  fits: (swaps, terms) => fitsTransaction(swaps, terms, tables),
})
const TABLES_MS = 60_000
const GAS_PRICE_MS = 5_000
const EPOCH_MS = 60_000
/** A search may last longer than pools may be old (`staleMs`): the followed pools are read meanwhile. */
const SEARCH_WAIT_MS = 2_000

/** The pools of Solana. Reads the accounts of all known pools at each step, and names the slot of the read. */
export function createSolanaPools(options: NetworkPoolsOptions): PoolSource {
  const { network, dexNetwork, now = Date.now } = options
  const nodes = createSolanaNodes(network.id, options.rpcUrls, network.genesis)
  const connectors = [...new Set([dexNetwork.wrapped, ...dexNetwork.connectors])]
  const listing: ListedTokens = {
    wrapped: dexNetwork.wrapped,
    connectors: new Set(connectors),
    listed: new Set([...connectors, ...options.tokens]),
  }
  const clock = createClock(nodes, now)
  const faults = createFaultLog(network.id, options.log)
  const lookup = createPoolLookup({
    ...{ nodes, dexes: dexNetwork.dexes, listing, now, onFault: faults.note },
    async read(found) {
      const states = await createPoolReader(nodes).read(found, await clock())
      faults.notePools(states)
      return states
    },
    ...(options.settings?.poolsMax === undefined ? {} : { poolsMax: options.settings.poolsMax }),
  })
  const stoppedMs = options.settings?.headAgeMaxMs ?? Number.POSITIVE_INFINITY
  const checkProgress = createSlotProgress(network.id, stoppedMs, now)
  const tables = dexNetwork.lookupTables ?? []
  const following = createFollowing(nodes, {
    now,
    clock,
    tables,
    refused: lookup.refused,
    checkProgress,
    onRead: faults.notePools,
  })
  const searches = createSearches(lookup.run)
  let pauses = noPoolPauses
  const filterPaused = createUnpausedPools()
  const listUnpaused = () => filterPaused(following.pools(), pauses)

  return {
    network: network.id,
    current() {
      const at = following.at()
      if (at === null) return null
      return {
        ...{ block: blockAt(at.slot), readAtMs: at.readAtMs, head: at.slot, pools: listUnpaused() },
        ...{
          listed: listing.listed,
          intermediates: listing.connectors,
          refusedTokens: following.refused(),
          wrapped: dexNetwork.wrapped,
        },
        // Millionths of a lamport for a unit are lamports for a million units.
        ...{ millionGasPrice: following.unitPrice(), nativeDecimals: network.decimals },
        routeLimits: limitRoutes(following.tables()),
      }
    },
    counts: () => ({ reorgs: 0, differences: 0, rereads: 0 }),
    ...createReports(following.pools, listUnpaused, { listing, stablecoin: dexNetwork.stablecoin, now }),
    pause(scopes) {
      pauses = poolPausesOf(scopes, network.id)
    },
    request: lookup.request,
    async advance() {
      // Nothing is quoted before the first read, so that one waits for the pools.
      const searched = await searches.next(following.at() === null ? null : SEARCH_WAIT_MS)
      // What is known is read also if the node does not answer a search.
      await following.read(lookup.known())
      if (searched?.status === 'rejected') throw searched.reason
      return searched === null || searched.value ? 'again' : undefined
    },
  }
}

/** Runs of a search, one at a time, that go on while their caller does other work. */
function createSearches(run: () => Promise<boolean>) {
  let current: Promise<PromiseSettledResult<boolean>> | null = null
  async function start(): Promise<PromiseSettledResult<boolean>> {
    const [outcome] = await Promise.allSettled([run()])
    return outcome
  }
  return {
    /** The outcome of the current run, or of a new one; null if the run takes longer than `waitMs`. */
    async next(waitMs: number | null): Promise<PromiseSettledResult<boolean> | null> {
      current ??= start()
      const outcome = await (waitMs === null ? current : Promise.race([current, delay(waitMs, null, { ref: false })]))
      if (outcome !== null) current = null
      return outcome
    },
  }
}

function createReports(
  all: () => readonly SolanaPool[],
  unpaused: () => readonly Pool[],
  { listing, stablecoin, now }: Readonly<{ listing: ListedTokens; stablecoin: string | undefined; now: () => number }>,
): Pick<PoolSource, 'liquidity' | 'listPools' | 'depth'> {
  const depths = createDepthHistory()
  const findStablecoin = () => {
    const of = all().find(({ tokens }) => stablecoin !== undefined && tokens.includes(stablecoin))
    if (of === undefined || stablecoin === undefined) return null
    return { token: stablecoin, unit: 10 ** of.decimals[of.tokens[0] === stablecoin ? 0 : 1] }
  }
  return {
    liquidity: () => liquidityOf(unpaused(), listing, findStablecoin()),
    listPools: () => listPools(all(), unpaused(), listing, findStablecoin()),
    depth: () => reportDepth(depths, listedDepth(all(), listing), now()),
  }
}

const FAULTS_MAX = 1_000

/** Logs why a DEX or a pool is not used, once until it changes. */
function createFaultLog(network: string, log: NetworkPoolsOptions['log'] | undefined) {
  const logged = new Map<string, string>()
  function note(of: string, fault: string, kind: 'dex' | 'pool' = 'dex'): void {
    if (logged.get(of) === fault) return
    if (logged.size >= FAULTS_MAX) logged.clear()
    logged.set(of, fault)
    log?.warn({ network, [kind]: of, fault }, 'pools are not used')
  }
  return {
    note: (dex: string, fault: string) => note(dex, fault),
    notePools({ faults }: Pick<PoolStates, 'faults'>): void {
      for (const [address, fault] of faults) note(address, fault, 'pool')
    },
  }
}

type Clock = Readonly<{ epoch: bigint; unixTime: bigint }>

function createClock(nodes: SolanaNodes, now: () => number): () => Promise<Clock> {
  const epoch = createTimedValue(EPOCH_MS, now, () => readEpoch(nodes))
  return async () => {
    await epoch.refresh()
    return { epoch: epoch.value() ?? 0n, unixTime: BigInt(Math.floor(now() / 1000)) }
  }
}

type FollowingOptions = Readonly<{
  now: () => number
  clock: () => Promise<Clock>
  /** Addresses of lookup tables. */
  tables: readonly string[]
  /** Mints of pools that are not followed. */
  refused(): ReadonlyMap<string, string>
  /** Throws if a node is behind. */
  checkProgress(slot: number): void
  onRead(states: PoolStates): void
}>

/** The newest state of the pools. */
function createFollowing(nodes: SolanaNodes, options: FollowingOptions) {
  const { now, clock, refused: refusedBefore, checkProgress, onRead } = options
  // Without the answer of every node no build can use them either.
  const tables = createTimedValue(TABLES_MS, now, () => readLookupTables(nodes, options.tables).catch(() => []))
  const price = createTimedValue(GAS_PRICE_MS, now, () => readUnitPrice(nodes, []))
  const reader = createPoolReader(nodes)
  let pools: readonly SolanaPool[] = []
  let refused: ReadonlyMap<string, string> = new Map()
  let at: Readonly<{ slot: number; readAtMs: number }> | null = null
  return {
    /** The same array until a pool changes. */
    pools: () => pools,
    /** Mints that are not traded, with the reason. The same map until one changes. */
    refused: () => refused,
    at: () => at,
    unitPrice: () => price.value() ?? 0n,
    tables: () => tables.value() ?? [],
    async read(known: readonly FoundPool[]): Promise<void> {
      const [time] = await Promise.all([clock(), price.refresh(), tables.refresh()])
      const states = await reader.read(known, time)
      const { slot, pools: byAddress, refusals: ofKnown } = states
      try {
        checkProgress(slot)
      } catch (error) {
        nodes.rotate()
        throw error
      }
      onRead(states)
      const refusals = new Map([...refusedBefore(), ...ofKnown])
      const read = [...byAddress.values()]
      if (read.length !== pools.length || read.some((pool, index) => pool !== pools[index])) pools = read
      if (!isSameMap(refused, refusals)) refused = refusals
      at = { slot, readAtMs: now() }
    },
  }
}

const isSameMap = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
