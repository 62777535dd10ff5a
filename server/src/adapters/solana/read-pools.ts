import { findMintRefusal, readTransferFeeConfig } from '@swapyard/lib/pools/solana/mint-extensions.ts'
import type { Pair } from '../../swap/routing/pools/solana/solana-pool.ts'
import { dexOf } from './dexes/dexes.ts'
import type { FindAccount, SolanaPool } from './dexes/solana-dex.ts'
import { type FoundPool, faultOf } from './find-pools.ts'
import { ACCOUNTS_MAX, type Account, fieldsOf, readAccounts, type SolanaNodes, toCount, tokenUnits } from './nodes.ts'

type Parts = readonly (Buffer | string)[]

/** A pool with the content of the accounts that it was read from. */
type Cached = Readonly<{
  /** Of the accounts that every trade and every change of the liquidity changes. */
  light: Parts
  /** Of the others. */
  whole: Parts
  /** Unix seconds of the last whole read. */
  readAt: bigint
  /** Null for a pool that cannot be traded now. */
  pool: SolanaPool | null
}>
type Clock = Readonly<{ epoch: bigint; unixTime: bigint }>

export type PoolStates = Readonly<{
  /** The least slot of all reads. */
  slot: number
  pools: ReadonlyMap<string, SolanaPool>
  /** Mints that are not traded, with the reason. */
  refusals: ReadonlyMap<string, string>
  /** Why a pool could not be read, by its address. The others are. */
  faults: ReadonlyMap<string, string>
}>

/** A state of some pools needs other accounts than the one before: bins and ticks beside the price. */
const ROUNDS_MAX = 3
/** Calls to a node at the same time. */
const CALLS_AT_ONCE = 8
/** A pool that does not change is read whole after this time, because settings of its DEX may. */
const WHOLE_SECONDS = 10n

type AccountOf = (address: string) => Account | null
type Batch = Readonly<{ slot: number; batch: readonly FoundPool[]; accountOf: AccountOf }>

/** By pool: the accounts besides those of the light read. */
type Others = Map<string, readonly string[]>

const lightOf = ({ address, tokens, vaults }: FoundPool): readonly string[] => [address, ...tokens, ...vaults]

function readBatches(
  nodes: SolanaNodes,
  some: readonly FoundPool[],
  addressesOf: (one: FoundPool) => readonly string[],
): Promise<readonly Batch[]> {
  return mapSome(toBatches(some, addressesOf), async (batch) => {
    const addresses = [...new Set(batch.flatMap(addressesOf))]
    const { slot, accounts } = await readAccounts(nodes, addresses)
    const byAddress = new Map(addresses.map((address, index) => [address, accounts[index] ?? null]))
    return { slot, batch, accountOf: (address) => byAddress.get(address) ?? null }
  })
}

/** Whether the accounts of the last read are those that the pool's state names now. */
function isComplete(others: Others, { kind, address }: FoundPool, find: FindAccount): boolean {
  const data = find(address)
  const named = data === null ? [] : dexOf(kind).accountsOf(address, data, find)
  const before = others.get(address) ?? []
  others.set(address, named)
  return isSame(before, named)
}

/** A pool that cannot be decoded is left out, and stops no other: anybody can create pools and mints. */
function isolate(run: () => void, onFault: (fault: string) => void): void {
  try {
    run()
  } catch (error) {
    onFault(faultOf(error))
  }
}

/**
 * Reads pools. Each step reads the account, the vaults and the mints of each pool, and all other accounts, which may be many, of those that
 * have changed. All accounts of a pool are read in one call then, so they are of one slot. An unchanged pool keeps its object.
 */
export function createPoolReader(nodes: SolanaNodes) {
  let cache: ReadonlyMap<string, Cached> = new Map()
  const others: Others = new Map()
  const wholeOf = (one: FoundPool): readonly string[] => [...lightOf(one), ...(others.get(one.address) ?? [])]

  return {
    async read(known: readonly FoundPool[], clock: Clock): Promise<PoolStates> {
      const entries = new Map<string, Cached>()
      const [refusals, faults] = [new Map<string, string>(), new Map<string, string>()]
      const slots: number[] = []
      const noteFault = (one: FoundPool) => (fault: string) => void faults.set(one.address, fault)
      let left: FoundPool[] = []
      for (const { slot, batch, accountOf } of await readBatches(nodes, known, lightOf)) {
        slots.push(slot)
        for (const one of batch)
          isolate(() => {
            const refused = refusalsOf(one, accountOf)
            for (const [token, reason] of refused) refusals.set(token, reason)
            const before = cache.get(one.address)
            if (before && isFresh(before, one, accountOf, clock)) entries.set(one.address, before)
            else if (refused.length === 0) left.push(one)
          }, noteFault(one))
      }
      for (let round = 0; round < ROUNDS_MAX && left.length > 0; round++) {
        const incomplete: FoundPool[] = []
        for (const { slot, batch, accountOf } of await readBatches(nodes, left, wholeOf)) {
          slots.push(slot)
          for (const one of batch)
            isolate(() => {
              if (isComplete(others, one, (address) => accountOf(address)?.data ?? null))
                entries.set(one.address, readPool(one, accountOf, { ...clock, slot }, cache.get(one.address)))
              else incomplete.push(one)
            }, noteFault(one))
        }
        left = incomplete
      }
      cache = entries
      const addresses = new Set(known.map(({ address }) => address))
      for (const address of others.keys()) if (!addresses.has(address)) others.delete(address)
      const slot =
        slots.length > 0 ? Math.min(...slots) : toCount(await nodes.ask('getSlot', [{ commitment: 'confirmed' }]))
      // In the order of `known`, so that an unchanged list is the same.
      const pools = known.flatMap(({ address }) => entries.get(address)?.pool ?? [])
      return { slot, pools: new Map(pools.map((pool) => [pool.address, pool])), refusals, faults }
    },
  }
}

/** As many pools together as fit into one call. */
function toBatches(
  known: readonly FoundPool[],
  addressesOf: (one: FoundPool) => readonly string[],
): readonly (readonly FoundPool[])[] {
  const batches: FoundPool[][] = []
  let addresses = new Set<string>()
  for (const one of known) {
    const joined = new Set([...addresses, ...addressesOf(one)])
    const last = batches.at(-1)
    if (last === undefined || joined.size > ACCOUNTS_MAX) {
      batches.push([one])
      addresses = new Set(addressesOf(one))
    } else {
      last.push(one)
      addresses = joined
    }
  }
  return batches
}

async function mapSome<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  for (let from = 0; from < items.length; from += CALLS_AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + CALLS_AT_ONCE).map(run))))
  return results
}

function refusalsOf({ tokens }: FoundPool, accountOf: AccountOf): readonly (readonly [string, string])[] {
  return tokens.flatMap((token) => {
    const reason = findMintRefusal(accountOf(token)?.data ?? Buffer.alloc(0))
    return reason === null ? [] : [[token, reason] as const]
  })
}

function isFresh(before: Cached, one: FoundPool, accountOf: AccountOf, clock: Clock): boolean {
  return clock.unixTime - before.readAt < WHOLE_SECONDS && isSame(before.light, lightParts(one, accountOf, clock))
}

function lightParts({ address, kind, tokens, vaults }: FoundPool, accountOf: AccountOf, clock: Clock): Parts {
  const data = accountOf(address)?.data ?? Buffer.alloc(0)
  const fees = tokens.map((token) => readTransferFeeConfig(accountOf(token)?.data ?? Buffer.alloc(0), clock.epoch))
  return [
    data,
    ...vaults.map((vault) => String(tokenUnits(accountOf(vault)))),
    ...fees.map((fee) => `${fee?.basisPoints} ${fee?.maximumFee}`),
    String(data.length > 0 ? (dexOf(kind).phaseOf?.(data, clock.unixTime) ?? 0) : 0),
  ]
}

const DECIMALS_OFFSET = 44

function readPool(
  one: FoundPool,
  accountOf: AccountOf,
  clock: Clock & Readonly<{ slot: number }>,
  before: Cached | undefined,
): Cached {
  const { address, dex: name, kind, tokens, vaults } = one
  const { epoch, unixTime, slot } = clock
  const dex = dexOf(kind)
  const find = (of: string) => accountOf(of)?.data ?? null
  const data = find(address)
  const [first, second] = [accountOf(tokens[0]), accountOf(tokens[1])]
  const light = lightParts(one, accountOf, clock)
  if (data === null || first === null || second === null) return { light, whole: [], readAt: unixTime, pool: null }
  const whole = dex.accountsOf(address, data, find).map((of) => find(of) ?? '')
  const isUnchanged = before !== undefined && isSame(before.light, light) && isSame(before.whole, whole)
  // A pool that cannot be traded may be open by now.
  if (isUnchanged && before.pool !== null) return { ...before, readAt: unixTime }
  const decimals: Pair<number> = [first.data[DECIMALS_OFFSET] ?? 0, second.data[DECIMALS_OFFSET] ?? 0]
  const programs = [first.owner, second.owner] as const
  const pool = dex.read({
    identity: { id: address, address, dex: name, tokens, vaults, programs, decimals },
    ...{ data, account: find, unixTime, slot: BigInt(slot) },
    balances: [tokenUnits(accountOf(vaults[0])), tokenUnits(accountOf(vaults[1]))],
    transferFees: [readTransferFeeConfig(first.data, epoch), readTransferFeeConfig(second.data, epoch)],
  })
  return { light, whole, readAt: unixTime, pool }
}

const isSame = (before: Parts, now: Parts): boolean =>
  before.length === now.length &&
  before.every((one, index) => {
    const other = now[index]
    return typeof one === 'string' || typeof other === 'string' || other === undefined
      ? one === other
      : one.equals(other)
  })

export const readEpoch = async (nodes: SolanaNodes): Promise<bigint> =>
  BigInt(toCount(fieldsOf(await nodes.ask('getEpochInfo', [{ commitment: 'confirmed' }]))['epoch']))
