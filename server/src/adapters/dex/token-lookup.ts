import { isPaused } from '../../swap/domain/pool-pauses.ts'
import { isListed, type ListedTokens } from '../pools/rank.ts'
import { admitRequested, exceedsPlaces, selectPools } from './admission.ts'
import { identityOf, keyOf, readBases, readerOf } from './dex-readers.ts'
import { pairsOf } from './discover.ts'
import type { NetworkSetup, SyncContext } from './sync-context.ts'
import type { PoolIdentity, TrackedPool } from './tracked-pool.ts'

/** Looks up the pools of requested tokens between two blocks. */
export type TokenLookup = Readonly<{
  /** Ignored if too many tokens wait or the token was looked up recently. */
  add(token: string): void
  /** Looks up the pools of some waiting tokens. */
  run(setup: NetworkSetup): Promise<void>
  /** Looks up the pools of all listed tokens, and of any other at its next request. */
  renew(): void
}>

/** Tokens per run: a few hundred calls, half a second. */
const TOKENS_PER_RUN = 16
const WAITING_MAX = 2_000
/** Minimum time between two lookups of a token, so that requests for tokens without pools cost little. */
const LOOKUP_INTERVAL_MS = 10 * 60_000
const LOOKUP_TIMES_MAX = 5_000

export function createTokenLookup(context: SyncContext): TokenLookup {
  const { now, tokens: listedTokens } = context
  const waiting = new Set<string>()
  const lookedUpAt = new Map<string, number>()

  return {
    add(token) {
      const at = lookedUpAt.get(token)
      if (waiting.size < WAITING_MAX && (at === undefined || now() - at >= LOOKUP_INTERVAL_MS)) waiting.add(token)
    },
    renew() {
      lookedUpAt.clear()
      for (const token of listedTokens) if (waiting.size < WAITING_MAX) waiting.add(token)
    },
    async run(setup) {
      if (waiting.size === 0) return
      const tokens = [...waiting].slice(0, TOKENS_PER_RUN)
      await lookUpPools(context, setup, tokens)
      for (const token of tokens) {
        waiting.delete(token)
        lookedUpAt.delete(token)
        lookedUpAt.set(token, now())
      }
      for (const [oldest] of lookedUpAt) {
        if (lookedUpAt.size <= LOOKUP_TIMES_MAX) break
        lookedUpAt.delete(oldest)
      }
    },
  }
}

/** Adds the pools of these tokens with the connector tokens that have any liquidity, after the present block. */
async function lookUpPools(context: SyncContext, { dexes }: NetworkSetup, tokens: readonly string[]): Promise<void> {
  const { pools, readContext, dexNetwork, network, log, listing, dropped } = context
  const block = pools.block()
  if (block === null) return
  const pairs = pairsOf({ connectors: dexNetwork.connectors, tokens, readContext })
  const identities = new Map<string, PoolIdentity>()
  for (const dex of dexes.values())
    for (const one of (await readerOf(dex)?.lookUp?.(readContext, block.hash, dex, pairs)) ?? [])
      if (pools.get(one.id) === undefined) identities.set(one.id, one)
  for (const one of dropped.find(tokens)) if (pools.get(one.id) === undefined) identities.set(one.id, one)
  const bases = await readBases(readContext, block.hash, [...identities.values()])
  const admitted = await admitRequested({ readContext, at: block.hash, dexes, listing }, bases, pools.all())
  if (admitted.length === 0) return
  pools.add(admitted)
  log.info({ network: network.id, tokens: tokens.length, pools: admitted.length }, 'pools added for requested tokens')
}

const listedIdentity = (
  one: TrackedPool,
  dexes: NetworkSetup['dexes'],
  listing: ListedTokens,
): readonly PoolIdentity[] => (isListed(listing, one.pool.tokens) ? [identityOf(one, dexes) ?? []].flat() : [])

/**
 * Once a limit is exceeded by a tenth, drops the least valuable pools, paused ones before all others, and the farthest ticks of those with
 * the most.
 */
export function dropExcessPools({ pools, settings, listing, pauses, dropped, setup }: SyncContext): void {
  const all = pools.all()
  if (!exceedsPlaces(all, listing, settings)) return
  const unpaused = all.filter(({ pool }) => !isPaused(pool, pauses.value))
  const selected = new Map(selectPools(unpaused, listing, settings).map((one) => [keyOf(one.pool), one]))
  const excess = all.filter(({ pool }) => !selected.has(keyOf(pool)))
  const dexes = setup.value?.dexes
  if (dexes !== undefined) dropped.remember(excess.flatMap((one) => listedIdentity(one, dexes, listing)))
  pools.drop(excess.map(({ pool }) => keyOf(pool)))
  pools.shorten([...selected].flatMap(([key, one]) => (pools.get(key) === one ? [] : [one])))
}
