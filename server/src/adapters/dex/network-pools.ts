import { assert } from '../../lib/assert.ts'
import { createTimedValue } from '../../lib/timed-value.ts'
import type { DexNetwork } from '../../swap/domain/dex.ts'
import { isPaused, noPoolPauses, poolPausesOf } from '../../swap/domain/pool-pauses.ts'
import type { PoolSource } from '../../swap/ports/pools.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { quantity } from '../chains/evm/replies.ts'
import { createRpc, type Rpc, rpcDefaults, unavailable } from '../chains/evm/rpc.ts'
import { createDepthHistory, reportDepth } from '../pools/depth-history.ts'
import { liquidityOf, listedDepth, listPools } from '../pools/rank.ts'
import { createUnpausedPools } from '../pools/unpaused-pools.ts'
import { createBlockReader } from './block-reader.ts'
import { compareSample } from './compare.ts'
import { createDroppedPools } from './dropped-pools.ts'
import { createFeeOnTransferTokens } from './fee-on-transfer.ts'
import { type Header, latestHeader } from './headers.ts'
import { pack } from './pack.ts'
import { createPoolSet } from './pool-set.ts'
import { originOf, setUp } from './read-all.ts'
import { syncToHead } from './sync.ts'
import {
  type NetworkPoolsOptions,
  type NetworkSetup,
  type PoolSettings,
  reorgDepth,
  type SyncContext,
} from './sync-context.ts'
import { createTokenLookup, dropExcessPools } from './token-lookup.ts'
import type { ReadContext } from './tracked-pool.ts'

export const poolDefaults: PoolSettings = {
  poolsMax: 1_000,
  ticksMax: 60_000,
  scanBlocksMax: 500_000,
  catchUpBlocksMax: 5_000,
  compareEveryBlocks: 50,
  comparePools: 4,
  snapshotEveryMs: 5 * 60_000,
  renewEveryMs: 6 * 3_600_000,
  headAgeMaxMs: Number.POSITIVE_INFINITY,
}

const GAS_PRICE_MS = 5_000
/** A reply is held in memory as a whole, several times over. Longer log ranges are requested in parts. */
const rpcOptions = { ...rpcDefaults, replyBytesMax: 16 * 1024 * 1024 }

/** The pools of one EVM network. Reads everything at one block hash, then follows the logs of new blocks. */
export function createNetworkPools(options: NetworkPoolsOptions): PoolSource {
  const nodes = createNodes(options)
  const context = createSyncContext(options, nodes)
  const { pools, counts, dexNetwork, settings, now } = context
  const maintenance = createMaintenance(context)
  const { nativeContract } = options.network.evm ?? {}
  const filterPaused = createUnpausedPools()
  const unpaused = () => filterPaused(context.pools.pools(), context.pauses.value)
  const refusals = createRefusals()
  const tokens = createFeeOnTransferTokens(nodes.rpc, dexNetwork.wrapped, now, nativeContract ? [nativeContract] : [])
  let at: Readonly<{ head: Header; readAtMs: number }> | null = null

  async function advanceOnce(): Promise<'again' | undefined> {
    const head = await latestHeader(nodes.rpc())
    const ageMs = now() - head.minedAtMs
    // The next attempt uses another node. If all are behind, quotes stop when the state is too old.
    if (ageMs > settings.headAgeMaxMs) throw unavailable(`the newest block is ${Math.round(ageMs / 1000)} s old`)
    if (context.setup.value === null) await setUp(context, head)
    const setup = context.setup.value as NetworkSetup
    if ((await syncToHead(context, setup, head)) === 'again') return 'again'
    await tokens.check(pools.pools())
    await maintenance.readGasPrice()
    const isFirst = at === null
    at = { head, readAtMs: now() }
    // Publish the first state before the maintenance work.
    if (isFirst) return 'again'
    await maintenance.run(setup)
    // Check the tokens of newly found pools.
    await tokens.check(pools.pools())
    return undefined
  }

  return {
    network: options.network.id,
    current() {
      const block = pools.block()
      if (block === null || at === null) return null
      const { head, readAtMs } = at
      return {
        ...{ block, readAtMs, head: head.height, wrapped: dexNetwork.wrapped },
        pools: tokens.poolsWithCheckedTokens(unpaused()),
        listed: context.listing.listed,
        refusedTokens: refusals(tokens.feeOnTransfer()),
        millionGasPrice: maintenance.gasPrice() * 1_000_000n,
        nativeDecimals: options.network.decimals,
      }
    },
    counts: () => ({ ...counts }),
    ...createReports(context, () =>
      unpaused().filter((pool) => !pool.tokens.some((one) => tokens.feeOnTransfer().has(one))),
    ),
    request: maintenance.request,
    pause(scopes) {
      context.pauses.value = poolPausesOf(scopes, options.network.id)
      maintenance.pausesChanged()
    },
    async advance() {
      try {
        return await advanceOnce()
      } catch (error) {
        nodes.next()
        throw error
      }
    },
  }
}

/** `tradable`: without fee-on-transfer tokens, so that token lists show them as not swappable. */
function createReports(
  { setup, dexNetwork, listing, pools, depths, now }: SyncContext,
  tradable: () => readonly Pool[],
): Pick<PoolSource, 'liquidity' | 'listPools' | 'depth'> {
  const findStablecoin = () => {
    const unit = setup.value?.stablecoinUnit ?? null
    const { stablecoin } = dexNetwork
    return stablecoin === undefined || unit === null ? null : { token: stablecoin, unit }
  }
  return {
    liquidity: () => liquidityOf(tradable(), listing, findStablecoin()),
    listPools: () => listPools(pools.pools(), tradable(), listing, findStablecoin()),
    depth: () => reportDepth(depths, listedDepth(pools.pools(), listing), now()),
  }
}

/** Fee-on-transfer tokens with the reason; the same map for the same set. */
function createRefusals(): (tokens: ReadonlySet<string>) => ReadonlyMap<string, string> {
  const reason = 'takes a fee on transfer'
  let cache: Readonly<{ of: ReadonlySet<string>; refusals: ReadonlyMap<string, string> }> | null = null
  return (tokens) => {
    if (cache?.of !== tokens) cache = { of: tokens, refusals: new Map([...tokens].map((token) => [token, reason])) }
    return cache.refusals
  }
}

/** Maintenance between two blocks. */
function createMaintenance(context: SyncContext) {
  const { pools, settings, now, rpc } = context
  const lookup = createTokenLookup(context)
  const gasPrice = createTimedValue(GAS_PRICE_MS, now, () => rpc().ask('eth_gasPrice', [], quantity))
  let snapshotAtMs = Number.NEGATIVE_INFINITY
  let renewedAtMs = now()
  let comparedAt = 0

  async function compare(height: number): Promise<void> {
    const { compareEveryBlocks, comparePools } = settings
    if (Math.abs(height - comparedAt) < compareEveryBlocks) return
    comparedAt = height
    await compareSample(context, Math.floor(height / compareEveryBlocks) * comparePools)
  }

  return {
    gasPrice: () => gasPrice.value() ?? 0n,
    request: lookup.add,
    pausesChanged(): void {
      // The next snapshot has no paused pools. Resumed pools that an earlier one lacked are looked up again.
      snapshotAtMs = Number.NEGATIVE_INFINITY
      renewedAtMs = Number.NEGATIVE_INFINITY
    },
    readGasPrice: gasPrice.refresh,
    async run(setup: NetworkSetup): Promise<void> {
      const block = pools.block()
      if (block === null) return
      if (now() - renewedAtMs >= settings.renewEveryMs) {
        renewedAtMs = now()
        lookup.renew()
      }
      await lookup.run(setup)
      dropExcessPools(context)
      await compare(block.height)
      if (now() - snapshotAtMs < settings.snapshotEveryMs) return
      snapshotAtMs = now()
      await save(context, setup)
    },
  }
}

async function save(context: SyncContext, setup: NetworkSetup): Promise<void> {
  const { options, network, pools, log, pauses, depths } = context
  const block = pools.block()
  if (block === null) return
  try {
    const tracked = pools.all().filter(({ pool }) => !isPaused(pool, pauses.value))
    const packed = await pack({ tracked, depths: depths.list() }, originOf(context, setup))
    await options.snapshots.save({ network: network.id, block, packed })
  } catch (err) {
    log.warn({ err, network: network.id }, 'pool snapshot could not be saved')
  }
}

type Nodes = Readonly<{
  rpc(): Rpc
  /** The node after the current one; the same with a single node. */
  other(): Rpc
  count: number
  next(): void
}>

function createNodes({ network, rpcUrls }: NetworkPoolsOptions): Nodes {
  const { evm } = network
  assert(evm, 'an EVM network has EVM parameters')
  assert(rpcUrls.length > 0, 'a network has a node')
  const rpcs = rpcUrls.map((url, index) =>
    createRpc(`${network.id} pools node ${index + 1}`, url, evm.chainId, rpcOptions),
  )
  let current = 0
  return {
    rpc: () => rpcs[current % rpcs.length] as Rpc,
    other: () => rpcs[(current + 1) % rpcs.length] as Rpc,
    count: rpcs.length,
    next: () => {
      current++
    },
  }
}

function createSyncContext(options: NetworkPoolsOptions, { rpc, other, count }: Nodes): SyncContext {
  const dexNetwork = normalizeAddresses(options.dexNetwork)
  const tokens = [...new Set(options.tokens.map((token) => token.toLowerCase()))]
  const connectors = new Set([dexNetwork.wrapped, ...dexNetwork.connectors])
  const readsFrom = (currentRpc: () => Rpc): ReadContext => ({
    reader: createBlockReader(currentRpc, dexNetwork.multicall3 ?? null),
    wrapped: dexNetwork.wrapped,
    nativeIsToken: dexNetwork.nativeIsToken ?? false,
  })
  return {
    options,
    network: options.network,
    dexNetwork,
    tokens,
    listing: { wrapped: dexNetwork.wrapped, connectors, listed: new Set([...connectors, ...tokens]) },
    settings: { ...poolDefaults, ...options.settings },
    log: options.log,
    now: options.now ?? Date.now,
    rpc,
    readContext: readsFrom(rpc),
    otherReadContext: count > 1 ? readsFrom(other) : null,
    pools: createPoolSet(reorgDepth(options.network)),
    pauses: { value: noPoolPauses },
    dropped: createDroppedPools(connectors),
    depths: createDepthHistory(),
    counts: { reorgs: 0, differences: 0, rereads: 0 },
    refusedTurns: { value: 0 },
    setup: { value: null },
  }
}

/** The network with all addresses in lower case. */
function normalizeAddresses(dexNetwork: DexNetwork): DexNetwork {
  const lower = <K extends string>(key: K, value: string | undefined) =>
    value === undefined ? {} : ({ [key]: value.toLowerCase() } as Record<K, string>)
  return {
    ...dexNetwork,
    wrapped: dexNetwork.wrapped.toLowerCase(),
    connectors: dexNetwork.connectors.map((token) => token.toLowerCase()),
    ...lower('stablecoin', dexNetwork.stablecoin),
    dexes: dexNetwork.dexes.map((dex) => ({
      ...dex,
      factory: dex.factory.toLowerCase(),
      ...lower('vault', dex.vault),
      ...lower('deployer', dex.deployer),
    })),
  }
}
