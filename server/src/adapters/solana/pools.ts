import { findMintRefusal, readTransferFeeConfig } from '@swapyard/lib/pools/solana/mint-extensions.ts'
import { createTimedValue } from '../../lib/timed-value.ts'
import type { DexNetwork } from '../../swap/domain/dex.ts'
import { noPoolPauses, poolPausesOf } from '../../swap/domain/pool-pauses.ts'
import type { PoolSource } from '../../swap/ports/pools.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { RaydiumCpmmRoutePool } from '../../swap/routing/pools/raydium-cpmm.ts'
import { createDepthHistory, reportDepth } from '../dex/depth-history.ts'
import { type Listing, liquidityOf, listedDepth } from '../dex/rank.ts'
import type { NetworkPoolsOptions } from '../dex/sync-context.ts'
import { createUnpausedPools } from '../dex/unpaused-pools.ts'
import {
  ACCOUNTS_MAX,
  type Account,
  createSolanaNodes,
  fieldsOf,
  listOf,
  readAccounts,
  type SolanaNodes,
  toAccount,
  toCount,
  tokenUnits,
} from './nodes.ts'
import { blockAt } from './prepare.ts'
import {
  type CpmmAccounts,
  isTradable,
  MINT_OFFSETS,
  POOL_BYTES,
  readCpmmAccounts,
  toCpmmPool,
} from './raydium-cpmm.ts'
import { createSlotProgress } from './slot-progress.ts'
import { readUnitPrice } from './unit-price.ts'

/** Two swaps, a fee and the wrapping of the native coin fit into a transaction. Each pool trades both tokens (decision 0105). */
const routeLimits = { hopsMax: 1, swapsMax: 2 }
const GAS_PRICE_MS = 5_000
const EPOCH_MS = 60_000

type Known = Readonly<{ address: string; dex: string; accounts: CpmmAccounts }>
type Cached = Readonly<{ bytes: string; pool: RaydiumCpmmRoutePool }>

/** The pools of Solana. Reads the accounts of all known pools at each step, and names the slot of the read. */
export function createSolanaPools(options: NetworkPoolsOptions): PoolSource {
  const { network, dexNetwork, now = Date.now } = options
  const nodes = createSolanaNodes(network.id, options.rpcUrls, network.genesis)
  const connectors = [...new Set([dexNetwork.wrapped, ...dexNetwork.connectors])]
  const listing: Listing = {
    wrapped: dexNetwork.wrapped,
    connectors: new Set(connectors),
    listed: new Set([...connectors, ...options.tokens]),
  }
  const lookup = createLookup(nodes, dexNetwork, connectors)
  const stoppedMs = options.settings?.headAgeMaxMs ?? Number.POSITIVE_INFINITY
  const following = createFollowing(nodes, now, createSlotProgress(network.id, stoppedMs, now))
  let pauses = noPoolPauses
  const filterPaused = createUnpausedPools()
  const listUnpaused = () => filterPaused(following.pools(), pauses)
  for (const token of listing.listed) lookup.request(token)

  return {
    network: network.id,
    current() {
      const at = following.at()
      if (at === null) return null
      return {
        ...{ block: blockAt(at.slot), readAtMs: at.readAtMs, head: at.slot, pools: listUnpaused() },
        ...{ listed: listing.listed, refusedTokens: following.refused(), wrapped: dexNetwork.wrapped },
        // Millionths of a lamport for a unit are lamports for a million units.
        ...{ millionGasPrice: following.unitPrice(), nativeDecimals: network.decimals, routeLimits },
      }
    },
    counts: () => ({ reorgs: 0, differences: 0, rereads: 0 }),
    ...createReports(following.pools, listUnpaused, { listing, stablecoin: dexNetwork.stablecoin, now }),
    pause(scopes) {
      pauses = poolPausesOf(scopes, network.id)
    },
    request: lookup.request,
    async advance() {
      await lookup.run()
      await following.read(lookup.known())
      return undefined
    },
  }
}

function createReports(
  all: () => readonly RaydiumCpmmRoutePool[],
  unpaused: () => readonly Pool[],
  { listing, stablecoin, now }: Readonly<{ listing: Listing; stablecoin: string | undefined; now: () => number }>,
): Pick<PoolSource, 'liquidity' | 'depth'> {
  const depths = createDepthHistory()
  return {
    liquidity() {
      const of = all().find(({ tokens }) => stablecoin !== undefined && tokens.includes(stablecoin))
      if (of === undefined || stablecoin === undefined) return new Map()
      const unit = 10 ** of.decimals[of.tokens[0] === stablecoin ? 0 : 1]
      return liquidityOf(unpaused(), listing, { token: stablecoin, unit })
    },
    depth: () => reportDepth(depths, listedDepth(all(), listing), now()),
  }
}

/** Finds the pools of requested tokens with the connector tokens, once for each token. */
function createLookup(nodes: SolanaNodes, { dexes }: DexNetwork, connectors: readonly string[]) {
  const known = new Map<string, Known>()
  const searched = new Set<string>()
  const requested = new Set<string>()
  const served = dexes.filter(({ enabled }) => enabled !== false)

  async function search(token: string): Promise<void> {
    for (const { name, factory } of served)
      for (const other of connectors.filter((one) => one !== token))
        for (const one of await findPools(nodes, factory, [token, other])) known.set(one.address, { ...one, dex: name })
    searched.add(token)
  }

  return {
    known: () => [...known.values()],
    request: (token: string) => void (searched.has(token) || requested.add(token)),
    async run(): Promise<void> {
      for (const token of requested) {
        await search(token)
        requested.delete(token)
      }
    },
  }
}

/** The newest state of the pools. */
function createFollowing(nodes: SolanaNodes, now: () => number, checkProgress: (slot: number) => void) {
  const price = createTimedValue(GAS_PRICE_MS, now, () => readUnitPrice(nodes, []))
  const epoch = createTimedValue(EPOCH_MS, now, async () =>
    BigInt(toCount(fieldsOf(await nodes.ask('getEpochInfo', [{ commitment: 'confirmed' }]))['epoch'])),
  )
  let cache: ReadonlyMap<string, Cached> = new Map()
  let pools: readonly RaydiumCpmmRoutePool[] = []
  let refused: ReadonlyMap<string, string> = new Map()
  let at: Readonly<{ slot: number; readAtMs: number }> | null = null
  return {
    pools: () => pools,
    /** Mints that are not traded, with the reason. The same map until one changes. */
    refused: () => refused,
    at: () => at,
    unitPrice: () => price.value() ?? 0n,
    async read(known: readonly Known[]): Promise<void> {
      await Promise.all([price.refresh(), epoch.refresh()])
      const { slot, cached, refusals } = await readPools(nodes, known, {
        epoch: epoch.value() ?? 0n,
        nowMs: now(),
        cache,
      })
      checkProgress(slot)
      const isChanged = cached.size !== cache.size || [...cached].some(([id, one]) => cache.get(id) !== one)
      cache = cached
      if (isChanged) pools = [...cached.values()].map(({ pool }) => pool)
      if (!isSameMap(refused, refusals)) refused = refusals
      at = { slot, readAtMs: now() }
    },
  }
}

const isSameMap = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)

/** The pools of a pair, whichever token the program has put first. */
async function findPools(
  nodes: SolanaNodes,
  program: string,
  [token, other]: readonly [string, string],
): Promise<readonly Pick<Known, 'address' | 'accounts'>[]> {
  const orders = [
    [token, other],
    [other, token],
  ] as const
  const replies = await Promise.all(
    orders.map(([first, second]) =>
      nodes.ask('getProgramAccounts', [
        program,
        {
          ...{ encoding: 'base64', commitment: 'confirmed' },
          filters: [
            { dataSize: POOL_BYTES },
            { memcmp: { offset: MINT_OFFSETS[0], bytes: first } },
            { memcmp: { offset: MINT_OFFSETS[1], bytes: second } },
          ],
        },
      ]),
    ),
  )
  return replies.flatMap(listOf).flatMap((row) => {
    const { pubkey, account } = fieldsOf(row)
    const read = toAccount(account)
    return read === null ? [] : [{ address: String(pubkey), accounts: readCpmmAccounts(read.data) }]
  })
}

type ReadOptions = Readonly<{ epoch: bigint; nowMs: number; cache: ReadonlyMap<string, Cached> }>

/** Accounts that a pool is read from. */
const ACCOUNTS_OF_POOL = 6
const POOLS_PER_CALL = Math.floor(ACCOUNTS_MAX / ACCOUNTS_OF_POOL)

/** All accounts of a pool are read in one call, so they are of one slot. The state of all pools is named by the least slot. */
async function readPools(nodes: SolanaNodes, all: readonly Known[], options: ReadOptions) {
  const parts: (readonly Known[])[] = []
  for (let from = 0; from < all.length; from += POOLS_PER_CALL) parts.push(all.slice(from, from + POOLS_PER_CALL))
  const cached = new Map<string, Cached>()
  const slots: number[] = []
  const refusals = new Map<string, string>()
  for (const part of parts) {
    const addresses = part.flatMap(({ address, accounts: { config, vaults, tokens } }) => [
      ...[address, config, ...vaults, ...tokens],
    ])
    const { slot, accounts } = await readAccounts(nodes, addresses)
    slots.push(slot)
    for (const [index, one] of part.entries()) {
      const read = accounts.slice(index * ACCOUNTS_OF_POOL, (index + 1) * ACCOUNTS_OF_POOL)
      for (const [token, reason] of refusalsOf(one, read)) refusals.set(token, reason)
      const entry = toCached(one, read, options)
      if (entry !== null) cached.set(one.address, entry)
    }
  }
  const slot =
    slots.length > 0 ? Math.min(...slots) : toCount(await nodes.ask('getSlot', [{ commitment: 'confirmed' }]))
  return { slot, cached, refusals }
}

const MINTS_FROM = 4

function refusalsOf({ accounts }: Known, read: readonly (Account | null)[]): readonly (readonly [string, string])[] {
  return accounts.tokens.flatMap((token, index) => {
    const reason = findMintRefusal(read[MINTS_FROM + index]?.data ?? Buffer.alloc(0))
    return reason === null ? [] : [[token, reason] as const]
  })
}

/** Null for a pool that cannot be traded now. An unchanged pool keeps its object. */
function toCached(
  known: Known,
  read: readonly (Account | null)[],
  { epoch, nowMs, cache }: ReadOptions,
): Cached | null {
  const [data, config, ...others] = read.map((account) => account?.data)
  const mints = others.slice(2)
  if (data?.length !== POOL_BYTES || config === undefined || mints.some((mint) => mint === undefined)) return null
  if (!isTradable(data, BigInt(Math.floor(nowMs / 1000)))) return null
  if (refusalsOf(known, read).length > 0) return null
  const feeOf = (mint: Buffer | undefined) => (mint === undefined ? null : readTransferFeeConfig(mint, epoch))
  const vaults = [tokenUnits(read[2]), tokenUnits(read[3])] as const
  const transferFees = [feeOf(mints[0]), feeOf(mints[1])] as const
  const fees = transferFees.map((fee) => `${fee?.basisPoints} ${fee?.maximumFee}`)
  const bytes = [data.toString('base64'), config.toString('base64'), ...vaults, ...fees].join(' ')
  const before = cache.get(known.address)
  if (before?.bytes === bytes) return before
  const identity = { address: known.address, dex: known.dex }
  return { bytes, pool: toCpmmPool(identity, known.accounts, { data, config, vaults, transferFees }) }
}
