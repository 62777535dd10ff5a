import { findMintRefusal, readTransferFeeConfig } from '@swapyard/lib/pools/solana/mint-extensions.ts'
import type { Pair } from '../../swap/routing/pools/solana/solana-pool.ts'
import { dexOf } from './dexes/dexes.ts'
import type { FindAccount, SolanaPool } from './dexes/solana-dex.ts'
import type { FoundPool } from './find-pools.ts'
import { ACCOUNTS_MAX, type Account, fieldsOf, readAccounts, type SolanaNodes, toCount, tokenUnits } from './nodes.ts'

/** A pool with the content of the accounts that it was read from. */
type Cached = Readonly<{ parts: readonly (Buffer | string)[]; pool: SolanaPool }>
type Clock = Readonly<{ epoch: bigint; unixTime: bigint }>

export type PoolStates = Readonly<{
  /** The least slot of all reads. */
  slot: number
  pools: ReadonlyMap<string, SolanaPool>
  /** Mints that are not traded, with the reason. */
  refusals: ReadonlyMap<string, string>
}>

/** A state of some pools needs other accounts than the one before: bins and ticks beside the price. */
const ROUNDS_MAX = 3
/** Calls to a node at the same time. */
const CALLS_AT_ONCE = 8

/** Reads pools. All accounts of a pool are read in one call, so they are of one slot. An unchanged pool keeps its object. */
export function createPoolReader(nodes: SolanaNodes) {
  let cache: ReadonlyMap<string, Cached> = new Map()
  /** By pool: the accounts besides those that never change. */
  const others = new Map<string, readonly string[]>()

  const addressesOf = ({ address, tokens, vaults }: FoundPool): readonly string[] => [
    ...[address, ...tokens, ...vaults],
    ...(others.get(address) ?? []),
  ]

  /** Whether the accounts of the last read are those that the pool's state names now. */
  function isComplete({ kind, address }: FoundPool, find: FindAccount): boolean {
    const data = find(address)
    const named = data === null ? [] : dexOf(kind).accountsOf(address, data, find)
    const before = others.get(address) ?? []
    others.set(address, named)
    return named.length === before.length && named.every((one, index) => one === before[index])
  }

  async function readBatch(batch: readonly FoundPool[]) {
    const addresses = [...new Set(batch.flatMap(addressesOf))]
    const { slot, accounts } = await readAccounts(nodes, addresses)
    const byAddress = new Map(addresses.map((address, index) => [address, accounts[index] ?? null]))
    return { slot, batch, accountOf: (address: string) => byAddress.get(address) ?? null }
  }

  return {
    async read(known: readonly FoundPool[], clock: Clock): Promise<PoolStates> {
      const entries = new Map<string, Cached>()
      const refusals = new Map<string, string>()
      const slots: number[] = []
      let left = known
      for (let round = 0; round < ROUNDS_MAX && left.length > 0; round++) {
        const incomplete: FoundPool[] = []
        for (const { slot, batch, accountOf } of await mapSome(toBatches(left, addressesOf), readBatch)) {
          slots.push(slot)
          const find = (address: string) => accountOf(address)?.data ?? null
          for (const one of batch) {
            if (!isComplete(one, find)) {
              incomplete.push(one)
              continue
            }
            const refused = refusalsOf(one, find)
            for (const [token, reason] of refused) refusals.set(token, reason)
            const entry = refused.length > 0 ? null : readPool(one, accountOf, { ...clock, slot }, cache)
            if (entry !== null) entries.set(one.address, entry)
          }
        }
        left = incomplete
      }
      cache = entries
      for (const address of others.keys()) if (!known.some((one) => one.address === address)) others.delete(address)
      const slot =
        slots.length > 0 ? Math.min(...slots) : toCount(await nodes.ask('getSlot', [{ commitment: 'confirmed' }]))
      return { slot, pools: new Map([...entries].map(([address, { pool }]) => [address, pool])), refusals }
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

function refusalsOf({ tokens }: FoundPool, find: FindAccount): readonly (readonly [string, string])[] {
  return tokens.flatMap((token) => {
    const reason = findMintRefusal(find(token) ?? Buffer.alloc(0))
    return reason === null ? [] : [[token, reason] as const]
  })
}

const DECIMALS_OFFSET = 44

/** Null for a pool that cannot be traded now. */
function readPool(
  { address, dex: name, kind, tokens, vaults }: FoundPool,
  accountOf: (address: string) => Account | null,
  { epoch, unixTime, slot }: Clock & Readonly<{ slot: number }>,
  cache: ReadonlyMap<string, Cached>,
): Cached | null {
  const dex = dexOf(kind)
  const find = (one: string) => accountOf(one)?.data ?? null
  const data = find(address)
  const [first, second] = [accountOf(tokens[0]), accountOf(tokens[1])]
  if (data === null || first === null || second === null) return null
  const transferFees = [readTransferFeeConfig(first.data, epoch), readTransferFeeConfig(second.data, epoch)] as const
  const balances = [tokenUnits(accountOf(vaults[0])), tokenUnits(accountOf(vaults[1]))] as const
  const named = dex.accountsOf(address, data, find)
  const parts = [
    ...[data, ...named.map((one) => find(one) ?? ''), ...balances.map(String)],
    ...transferFees.map((fee) => `${fee?.basisPoints} ${fee?.maximumFee}`),
    String(dex.phaseOf?.(data, unixTime) ?? 0),
  ]
  const before = cache.get(address)
  if (before !== undefined && isSame(before.parts, parts)) return before
  const decimals: Pair<number> = [first.data[DECIMALS_OFFSET] ?? 0, second.data[DECIMALS_OFFSET] ?? 0]
  const programs = [first.owner, second.owner] as const
  const identity = { id: address, address, dex: name, tokens, vaults, programs, decimals }
  const reading = { identity, data, balances, transferFees, account: find, unixTime, slot: BigInt(slot) }
  const pool = dex.read(reading)
  return pool && { parts, pool }
}

const isSame = (before: readonly (Buffer | string)[], now: readonly (Buffer | string)[]): boolean =>
  before.length === now.length &&
  before.every((one, index) => {
    const other = now[index]
    return typeof one === 'string' || typeof other === 'string' || other === undefined
      ? one === other
      : one.equals(other)
  })

export const readEpoch = async (nodes: SolanaNodes): Promise<bigint> =>
  BigInt(toCount(fieldsOf(await nodes.ask('getEpochInfo', [{ commitment: 'confirmed' }]))['epoch']))
