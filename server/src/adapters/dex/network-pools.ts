import { assert } from '../../lib/assert.ts'
import type { DexNetwork } from '../../swap/domain/dex.ts'
import type { PoolSource } from '../../swap/ports/pools.ts'
import { quantity } from '../chains/evm/replies.ts'
import { createRpc, type Rpc, rpcDefaults, unavailable } from '../chains/evm/rpc.ts'
import { createBlockReader } from './block-reader.ts'
import { compareSample } from './compare.ts'
import { type Header, latestHeader } from './headers.ts'
import { createTokenLookup, dropExcessPools } from './token-lookup.ts'
import { pack } from './pack.ts'
import { createPoolSet } from './pool-set.ts'
import { liquidityOf } from './rank.ts'
import { setUp, originOf } from './read-all.ts'
import { type NetworkSetup, type NetworkPoolsOptions, type PoolSettings, type SyncContext, reorgDepth } from './sync-context.ts'
import { createFeeOnTransferTokens } from './fee-on-transfer.ts'
import { syncToHead } from './sync.ts'

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
/** A reply is read as a whole: this is the memory that it takes, several times over. Longer runs of logs are asked for in parts. */
const rpcOptions = { ...rpcDefaults, replyBytesMax: 16 * 1024 * 1024 }

/** The pools of one EVM network. Everything is read at one block's hash; from there on logs tell what changes. */
export function createNetworkPools(deps: NetworkPoolsOptions): PoolSource {
  const nodes = createNodes(deps)
  const context = createSynced(deps, nodes)
  const { pools, counts, dexNetwork, settings, now } = context
  const upkeep = createUpkeep(context)
  const { nativeContract } = deps.network.evm ?? {}
  const tokens = createFeeOnTransferTokens(nodes.rpc, dexNetwork.wrapped, now, nativeContract ? [nativeContract] : [])
  let at: Readonly<{ head: Header; readAtMs: number }> | null = null

  async function turn(): Promise<'again' | undefined> {
    const head = await latestHeader(nodes.rpc())
    const ageMs = now() - head.minedAtMs
    // Another node may be ahead of this one. Where none is, the state grows old and is not quoted from.
    if (ageMs > settings.headAgeMaxMs) throw unavailable(`the newest block is ${Math.round(ageMs / 1000)} s old`)
    if (context.setup.value === null) await setUp(context, head)
    const setup = context.setup.value as NetworkSetup
    if ((await syncToHead(context, setup, head)) === 'again') return 'again'
    await tokens.look(pools.pools())
    await upkeep.readGasPrice()
    const isFirst = at === null
    at = { head, readAtMs: now() }
    // Whoever waits for these pools is told of them first.
    if (isFirst) return 'again'
    await upkeep.work(setup)
    // Of the pools that were found besides.
    await tokens.look(pools.pools())
    return undefined
  }

  return {
    network: deps.network.id,
    current() {
      const block = pools.block()
      if (block === null || at === null) return null
      const { head, readAtMs } = at
      const gasPrice = upkeep.gasPrice()
      const known = tokens.known(pools.pools())
      const { wrapped } = dexNetwork
      return { block, readAtMs, head: head.height, pools: known, taxed: tokens.taxed(), gasPrice, wrapped }
    },
    counts: () => ({ ...counts }),
    liquidity() {
      const unit = context.setup.value?.stablecoinUnit ?? null
      const { stablecoin, wrapped } = dexNetwork
      const taxed = tokens.taxed()
      // What takes a fee on transfer is not traded, so that it stands in lists as what cannot be swapped.
      const traded = pools.pools().filter((pool) => !pool.tokens.some((token) => taxed.has(token)))
      return liquidityOf(traded, wrapped, stablecoin === undefined || unit === null ? null : { token: stablecoin, unit })
    },
    request: upkeep.request,
    async advance() {
      try {
        return await turn()
      } catch (error) {
        nodes.next()
        throw error
      }
    },
  }
}

/** What is done besides following, between two blocks. */
function createUpkeep(context: SyncContext) {
  const { pools, settings, now, rpc } = context
  const wanted = createTokenLookup(context)
  let gas = { price: 0n, atMs: Number.NEGATIVE_INFINITY }
  let savedAtMs = Number.NEGATIVE_INFINITY
  let renewedAtMs = now()
  let comparedAt = 0

  async function compare(height: number): Promise<void> {
    const { compareEveryBlocks, comparePools } = settings
    if (Math.abs(height - comparedAt) < compareEveryBlocks) return
    comparedAt = height
    await compareSample(context, Math.floor(height / compareEveryBlocks) * comparePools)
  }

  return {
    gasPrice: () => gas.price,
    request: wanted.add,
    async readGasPrice(): Promise<void> {
      if (now() - gas.atMs < GAS_PRICE_MS) return
      gas = { price: await rpc().ask('eth_gasPrice', [], quantity), atMs: now() }
    },
    async work(setup: NetworkSetup): Promise<void> {
      const block = pools.block()
      if (block === null) return
      if (now() - renewedAtMs >= settings.renewEveryMs) {
        renewedAtMs = now()
        for (const token of context.tokens) wanted.add(token)
      }
      await wanted.look(setup)
      dropExcessPools(context)
      await compare(block.height)
      if (now() - savedAtMs < settings.snapshotEveryMs) return
      savedAtMs = now()
      await save(context, setup)
    },
  }
}

async function save(context: SyncContext, setup: NetworkSetup): Promise<void> {
  const { deps, network, pools, log } = context
  const block = pools.block()
  if (block === null) return
  try {
    const packed = await pack(pools.all(), originOf(context, setup))
    await deps.snapshots.save({ network: network.id, block, packed })
  } catch (err) {
    log.warn({ err, network: network.id }, 'the snapshot of pools was not kept')
  }
}

type Nodes = Readonly<{ rpc(): Rpc; next(): void }>

function createNodes({ network, rpcUrls }: NetworkPoolsOptions): Nodes {
  const { evm } = network
  assert(evm, 'an evm network has its parameters')
  assert(rpcUrls.length > 0, 'a network has a node')
  const rpcs = rpcUrls.map((url, index) =>
    createRpc(`${network.id} pools node ${index + 1}`, url, evm.chainId, rpcOptions),
  )
  let turn = 0
  return {
    rpc: () => rpcs[turn % rpcs.length] as Rpc,
    next: () => {
      turn++
    },
  }
}

function createSynced(deps: NetworkPoolsOptions, { rpc }: Nodes): SyncContext {
  const dexNetwork = normalizeAddresses(deps.dexNetwork)
  return {
    deps,
    network: deps.network,
    dexNetwork,
    tokens: deps.tokens.map((token) => token.toLowerCase()),
    settings: { ...poolDefaults, ...deps.settings },
    log: deps.log,
    now: deps.now ?? Date.now,
    rpc,
    readContext: {
      reader: {
        read: (hash, calls) => createBlockReader(rpc(), dexNetwork.multicall3 ?? null).read(hash, calls),
        revertsOf: (...asked) => createBlockReader(rpc(), dexNetwork.multicall3 ?? null).revertsOf(...asked),
        minedAt: (hash) => createBlockReader(rpc(), dexNetwork.multicall3 ?? null).minedAt(hash),
        storageAt: (...asked) => createBlockReader(rpc(), dexNetwork.multicall3 ?? null).storageAt(...asked),
      },
      wrapped: dexNetwork.wrapped,
    },
    pools: createPoolSet(reorgDepth(deps.network)),
    counts: { reorgs: 0, differences: 0, rereads: 0 },
    setup: { value: null },
  }
}

/** Addresses as we keep them: in lower case. */
function normalizeAddresses(given: DexNetwork): DexNetwork {
  const lower = <K extends string>(key: K, value: string | undefined) =>
    value === undefined ? {} : ({ [key]: value.toLowerCase() } as Record<K, string>)
  return {
    ...given,
    wrapped: given.wrapped.toLowerCase(),
    connectors: given.connectors.map((token) => token.toLowerCase()),
    ...lower('stablecoin', given.stablecoin),
    dexes: given.dexes.map((dex) => ({
      ...dex,
      factory: dex.factory.toLowerCase(),
      ...lower('vault', dex.vault),
      ...lower('deployer', dex.deployer),
    })),
  }
}
