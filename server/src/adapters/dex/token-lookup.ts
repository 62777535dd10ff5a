import { keyOf, readBases, readerOf, readWhole } from './dex-readers.ts'
import { pairsOf } from './discover.ts'
import { rank, selectWithinLimits, valuesOf, worthOf } from './rank.ts'
import type { NetworkSetup, SyncContext } from './sync-context.ts'
import type { PoolIdentity } from './tracked-pool.ts'

/** Looks up the pools of requested tokens between two blocks. */
export type TokenLookup = Readonly<{
  /** Ignored if too many tokens wait or the token was looked up recently. */
  add(token: string): void
  /** Looks up the pools of some waiting tokens. */
  run(setup: NetworkSetup): Promise<void>
}>

/** Tokens per run: a few hundred calls, half a second. */
const TOKENS_PER_RUN = 16
const WAITING_MAX = 2_000
/** Minimum time between two lookups of a token, so that requests for tokens without pools cost little. */
const LOOKUP_INTERVAL_MS = 10 * 60_000
const LOOKUP_TIMES_MAX = 5_000

export function createTokenLookup(context: SyncContext): TokenLookup {
  const { now } = context
  const waiting = new Set<string>()
  const lookedUpAt = new Map<string, number>()

  return {
    add(token) {
      const at = lookedUpAt.get(token)
      if (waiting.size < WAITING_MAX && (at === undefined || now() - at >= LOOKUP_INTERVAL_MS)) waiting.add(token)
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
  const { pools, readContext, dexNetwork, network, log } = context
  const block = pools.block()
  if (block === null) return
  const pairs = pairsOf({ connectors: dexNetwork.connectors, tokens, readContext })
  const identities = new Map<string, PoolIdentity>()
  for (const dex of dexes.values())
    for (const one of (await readerOf(dex)?.lookUp?.(readContext, block.hash, dex, pairs)) ?? [])
      if (pools.get(one.id) === undefined) identities.set(one.id, one)
  const bases = await readBases(readContext, block.hash, [...identities.values()])
  const values = valuesOf([...pools.pools(), ...bases.map(({ pool }) => pool)], dexNetwork.wrapped)
  const valuable = bases.filter(({ pool }) => worthOf(pool, values) > 0)
  if (valuable.length === 0) return
  pools.add(await readWhole(readContext, block.hash, valuable, dexes))
  log.info({ network: network.id, tokens: tokens.length, pools: valuable.length }, 'pools added for requested tokens')
}

/** Drops the least valuable pools once a limit is exceeded by a tenth. */
export function dropExcessPools({ pools, settings, dexNetwork }: SyncContext): void {
  const all = pools.all()
  const ticks = all.reduce((sum, one) => sum + (one.ticks?.length ?? 0), 0)
  if (all.length <= settings.poolsMax * 1.1 && ticks <= settings.ticksMax * 1.1) return
  const selected = new Set(
    selectWithinLimits(rank(all, dexNetwork.wrapped, settings.poolsMax), settings).map(({ pool }) => keyOf(pool)),
  )
  pools.drop(all.map(({ pool }) => keyOf(pool)).filter((key) => !selected.has(key)))
}
