import type { Dex } from '../../swap/domain/dex.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { selectPools } from '../dex/admission.ts'
import { type ListedTokens, valuesOf, worthOf } from '../pools/rank.ts'
import { type FoundPool, findCandidates } from './find-pools.ts'
import type { SolanaNodes } from './nodes.ts'
import type { PoolStates } from './read-pools.ts'

/** Pools of a pair that are followed. */
const POOLS_PER_PAIR = 8
/** Every followed pool is read at each step, with up to ten accounts. */
const POOLS_MAX = 500
/** A token is searched again on request after this time, because it may have got pools since. */
const REQUEST_MS = 600_000
/** Listed tokens are searched again without a request. */
const RENEW_MS = 3_600_000
/** Tokens that wait, and tokens of one run of the search. */
const REQUESTED_MAX = 1_000
const SEARCHES_PER_RUN = 16
/** Searches that are remembered. */
const SEARCHED_MAX = 10_000

export type LookupOptions = Readonly<{
  nodes: SolanaNodes
  dexes: readonly Dex[]
  listing: ListedTokens
  /** Reads pools whole. */
  read(found: readonly FoundPool[]): Promise<PoolStates>
  /** Called with why pools of a DEX cannot be used: of all that were searched. */
  onFault(dex: string, fault: string): void
  now(): number
  poolsMax?: number
  searchedMax?: number
}>

type Admitted = Readonly<{ found: FoundPool; pool: Pool }>

/**
 * Finds the pools of requested tokens with the connector tokens, and chooses those that are followed: of each pair the ones with the most
 * worth, which is what really lies near the price against listed tokens (docs/pools.md#admission). Pools without any worth are left out.
 */
export function createPoolLookup(options: LookupOptions) {
  const { nodes, dexes, listing, read, onFault, now, poolsMax = POOLS_MAX, searchedMax = SEARCHED_MAX } = options
  let admitted: ReadonlyMap<string, Admitted> = new Map()
  const refused = new Map<string, string>()
  /** When each token was searched, the oldest first. */
  const searchedMs = new Map<string, number>()
  /** Tokens whose last search lacks a DEX. */
  const incomplete = new Set<string>()
  const requested = new Set<string>()
  const served = dexes.filter(({ enabled }) => enabled !== false)

  function request(token: string, afterMs = REQUEST_MS): void {
    const isDue = now() - (searchedMs.get(token) ?? Number.NEGATIVE_INFINITY) >= afterMs
    if (isDue && requested.size < REQUESTED_MAX) requested.add(token)
  }

  async function search(token: string): Promise<void> {
    const refusals = new Map<string, string>()
    incomplete.delete(token)
    for (const connector of listing.connectors)
      if (connector !== token)
        for (const [mint, reason] of await searchPair(token, connector)) refusals.set(mint, reason)
    refused.delete(token)
    for (const [mint, reason] of refusals) refused.set(mint, reason)
    searchedMs.delete(token)
    searchedMs.set(token, now())
    const [oldest] = searchedMs.keys()
    if (searchedMs.size <= searchedMax || oldest === undefined) return
    for (const remembered of [searchedMs, incomplete, refused]) remembered.delete(oldest)
  }

  /** Returns the mints of the pair that are not traded. */
  async function searchPair(token: string, connector: string): Promise<ReadonlyMap<string, string>> {
    const { found: candidates, faults } = await findCandidates(nodes, served, { token, connector })
    for (const [dex, fault] of faults) onFault(dex, fault)
    if (faults.size > 0) incomplete.add(token)
    const { pools, refusals } = await read(candidates)
    const ofPair = candidates.flatMap((found) => {
      const pool = pools.get(found.address)
      return pool === undefined ? [] : [{ found, pool }]
    })
    // Pools of a DEX that could not be searched stay.
    const isOther = ({ found }: Admitted) =>
      !(found.tokens.includes(token) && found.tokens.includes(connector)) || faults.has(found.dex)
    const others = [...admitted.values()].filter(isOther)
    admitted = keepPlaces([...others, ...mostWorth(ofPair, others, listing)], listing, poolsMax)
    return refusals
  }

  return {
    /** The followed pools. */
    known: () => [...admitted.values()].map(({ found }) => found),
    /** Mints of found pools that are not traded, with the reason. */
    refused: (): ReadonlyMap<string, string> => refused,
    request: (token: string) => request(token),
    /** Searches some of the requested tokens. Whether more wait. */
    async run(): Promise<boolean> {
      for (const token of listing.listed) request(token, incomplete.has(token) ? REQUEST_MS : RENEW_MS)
      for (const token of [...requested].slice(0, SEARCHES_PER_RUN)) {
        requested.delete(token)
        await search(token)
      }
      return requested.size > 0
    },
  }
}

/** Of the pools of one pair, those with the most worth. */
function mostWorth(
  ofPair: readonly Admitted[],
  others: readonly Admitted[],
  listing: ListedTokens,
): readonly Admitted[] {
  const values = valuesOf(
    [...others, ...ofPair].map(({ pool }) => pool),
    listing,
  )
  return ofPair
    .map((one) => ({ one, worth: worthOf(one.pool, values, listing) }))
    .filter(({ worth }) => worth > 0)
    .sort((a, b) => b.worth - a.worth || (a.one.pool.id < b.one.pool.id ? -1 : 1))
    .slice(0, POOLS_PER_PAIR)
    .map(({ one }) => one)
}

/** The pools that get a place among those of all pairs, by the rules of EVM networks. */
function keepPlaces(all: readonly Admitted[], listing: ListedTokens, poolsMax: number): ReadonlyMap<string, Admitted> {
  const byId = new Map(all.map((one) => [one.pool.id, one]))
  const limits = { poolsMax, ticksMax: Number.MAX_SAFE_INTEGER }
  const chosen = new Set(selectPools(all, listing, limits).map(({ pool }) => pool.id))
  return new Map([...byId].filter(([id]) => chosen.has(id)))
}
