import { foundOf, keyOf, readBases, readWhole } from './dex-readers.ts'
import type { Synced } from './synced.ts'
import type { Tracked } from './tracked.ts'

/** Some pools as the chain has them; one that differs is taken from there and counted. */
export async function compareSome(synced: Synced, first: number): Promise<void> {
  const { pools, settings, ground, counts, log, network } = synced
  const at = pools.block()
  const begun = synced.begun.value
  if (at === null || begun === null) return
  const all = pools.all()
  const sample = Array.from(
    { length: Math.min(settings.comparePools, all.length) },
    (_, place) => all[(first + place) % all.length] as Tracked,
  )
  const found = sample.flatMap((one) => foundOf(one, begun.dexes) ?? [])
  const read = await readWhole(ground, at.hash, await readBases(ground, at.hash, found), begun.dexes)
  const wrong = new Map<string, Tracked>()
  for (const state of read) {
    const ours = pools.get(keyOf(state.pool))
    if (ours !== undefined && !isSame(ours, state)) wrong.set(keyOf(state.pool), state)
  }
  if (wrong.size === 0) return
  counts.differences += wrong.size
  log.error({ network: network.id, height: at.height, pools: [...wrong.keys()] }, 'pools differ from the chain')
  pools.repair(wrong)
}

/** Where only a part of the ticks is read, the part may have moved: then ticks that both have are compared. */
function isSame(ours: Tracked, theirs: Tracked): boolean {
  const { low, high } = {
    low: Math.max(ours.range?.low ?? -Infinity, theirs.range?.low ?? -Infinity),
    high: Math.min(ours.range?.high ?? Infinity, theirs.range?.high ?? Infinity),
  }
  const shared = ({ ticks = [] }: Tracked) => ticks.filter(({ index }) => index >= low && index <= high)
  return textOf({ ...ours.pool, ticks: shared(ours) }) === textOf({ ...theirs.pool, ticks: shared(theirs) })
}

const textOf = (state: object): string =>
  JSON.stringify(state, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
