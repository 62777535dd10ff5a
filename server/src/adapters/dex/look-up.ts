import { keyOf, readBases, readerOf, readWhole } from './dex-readers.ts'
import { pairsOf } from './discover.ts'
import { fit, rank, valuesOf, worthOf } from './rank.ts'
import type { Begun, Synced } from './synced.ts'
import type { FoundPool } from './tracked.ts'

/** Tokens whose pools are looked for besides, between two blocks. */
export type Wanted = Readonly<{
  /** Forgotten where too many wait, or where it was looked up a short time ago. */
  add(token: string): void
  /** Looks for the pools of some of them. */
  look(begun: Begun): Promise<void>
}>

/** One turn's share: some hundred questions, half a second. */
const TOKENS_PER_TURN = 16
const WAITING_MAX = 2_000
/** A token is not looked for again so soon: asking for what is nowhere traded costs us little. */
const AGAIN_MS = 10 * 60_000
const LOOKED_MAX = 5_000

export function createWanted(synced: Synced): Wanted {
  const { now } = synced
  const waiting = new Set<string>()
  const lookedAt = new Map<string, number>()

  return {
    add(token) {
      const at = lookedAt.get(token)
      if (waiting.size < WAITING_MAX && (at === undefined || now() - at >= AGAIN_MS)) waiting.add(token)
    },
    async look(begun) {
      if (waiting.size === 0) return
      const tokens = [...waiting].slice(0, TOKENS_PER_TURN)
      await lookUp(synced, begun, tokens)
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
async function lookUp(synced: Synced, { dexes }: Begun, tokens: readonly string[]): Promise<void> {
  const { pools, ground, dexNetwork, network, log } = synced
  const block = pools.block()
  if (block === null) return
  const pairs = pairsOf({ connectors: dexNetwork.connectors, tokens, ground })
  const found = new Map<string, FoundPool>()
  for (const dex of dexes.values())
    for (const one of (await readerOf(dex)?.lookUp?.(ground, block.hash, dex, pairs)) ?? [])
      if (pools.get(one.id) === undefined) found.set(one.id, one)
  const bases = await readBases(ground, block.hash, [...found.values()])
  const values = valuesOf([...pools.pools(), ...bases.map(({ pool }) => pool)], dexNetwork.wrapped)
  const worthy = bases.filter(({ pool }) => worthOf(pool, values) > 0)
  if (worthy.length === 0) return
  pools.add(await readWhole(ground, block.hash, worthy, dexes))
  log.info({ network: network.id, tokens: tokens.length, pools: worthy.length }, 'pools found besides')
}

/** Lets the least go where there are a tenth too many. */
export function trim({ pools, settings, dexNetwork }: Synced): void {
  const all = pools.all()
  const ticks = all.reduce((sum, one) => sum + (one.ticks?.length ?? 0), 0)
  if (all.length <= settings.poolsMax * 1.1 && ticks <= settings.ticksMax * 1.1) return
  const kept = new Set(fit(rank(all, dexNetwork.wrapped, settings.poolsMax), settings).map(({ pool }) => keyOf(pool)))
  pools.drop(all.map(({ pool }) => keyOf(pool)).filter((key) => !kept.has(key)))
}
