import { keyOf, readBases, readerOf, readWhole } from './dex-readers.ts'
import { pairsOf } from './discover.ts'
import { selectWithinLimits, rank, valuesOf, worthOf } from './rank.ts'
import type { NetworkSetup, SyncContext } from './sync-context.ts'
import type { PoolIdentity } from './tracked-pool.ts'

/** Tokens whose pools are looked for besides, between two blocks. */
export type TokenLookup = Readonly<{
  /** Forgotten where too many wait, or where it was looked up a short time ago. */
  add(token: string): void
  /** Looks for the pools of some of them. */
  run(setup: NetworkSetup): Promise<void>
}>

/** One turn's share: some hundred questions, half a second. */
const TOKENS_PER_TURN = 16
const WAITING_MAX = 2_000
/** A token is not looked for again so soon: asking for what is nowhere traded costs us little. */
const AGAIN_MS = 10 * 60_000
const LOOKED_MAX = 5_000

export function createTokenLookup(context: SyncContext): TokenLookup {
  const { now } = context
  const waiting = new Set<string>()
  const lookedAt = new Map<string, number>()

  return {
    add(token) {
      const at = lookedAt.get(token)
      if (waiting.size < WAITING_MAX && (at === undefined || now() - at >= AGAIN_MS)) waiting.add(token)
    },
    async look(setup) {
      if (waiting.size === 0) return
      const tokens = [...waiting].slice(0, TOKENS_PER_TURN)
      await lookUpPools(context, setup, tokens)
      for (const token of tokens) {
        waiting.delete(token)
        lookedAt.delete(token)
        lookedAt.set(token, now())
      }
      for (const [oldest] of lookedAt) {
        if (lookedAt.size <= LOOKED_MAX) break
        lookedAt.delete(oldest)
      }
    },
  }
}

/** Takes up what these tokens' pools with the connector tokens are worth something, as they are after the present block. */
async function lookUpPools(context: SyncContext, { dexes }: NetworkSetup, tokens: readonly string[]): Promise<void> {
  const { pools, readContext, dexNetwork, network, log } = context
  const block = pools.block()
  if (block === null) return
  const pairs = pairsOf({ connectors: dexNetwork.connectors, tokens, readContext })
  const found = new Map<string, PoolIdentity>()
  for (const dex of dexes.values())
    for (const one of (await readerOf(dex)?.lookUp?.(readContext, block.hash, dex, pairs)) ?? [])
      if (pools.get(one.id) === undefined) found.set(one.id, one)
  const bases = await readBases(readContext, block.hash, [...found.values()])
  const values = valuesOf([...pools.pools(), ...bases.map(({ pool }) => pool)], dexNetwork.wrapped)
  const worthy = bases.filter(({ pool }) => worthOf(pool, values) > 0)
  if (worthy.length === 0) return
  pools.add(await readWhole(readContext, block.hash, worthy, dexes))
  log.info({ network: network.id, tokens: tokens.length, pools: worthy.length }, 'pools found besides')
}

/** Lets the least go where there are a tenth too many. */
export function dropExcessPools({ pools, settings, dexNetwork }: SyncContext): void {
  const all = pools.all()
  const ticks = all.reduce((sum, one) => sum + (one.ticks?.length ?? 0), 0)
  if (all.length <= settings.poolsMax * 1.1 && ticks <= settings.ticksMax * 1.1) return
  const kept = new Set(selectWithinLimits(rank(all, dexNetwork.wrapped, settings.poolsMax), settings).map(({ pool }) => keyOf(pool)))
  pools.drop(all.map(({ pool }) => keyOf(pool)).filter((key) => !kept.has(key)))
}
