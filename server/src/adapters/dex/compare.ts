import { identityOf, keyOf, readBases, readWhole } from './dex-readers.ts'
import type { SyncContext } from './sync-context.ts'
import type { TrackedPool } from './tracked-pool.ts'

/** Compares some pools with the chain. A pool that differs is counted and replaced. */
export async function compareSample(context: SyncContext, first: number): Promise<void> {
  const { pools, settings, readContext, counts, log, network } = context
  const at = pools.block()
  const setup = context.setup.value
  if (at === null || setup === null) return
  const all = pools.all()
  const sample = Array.from(
    { length: Math.min(settings.comparePools, all.length) },
    (_, place) => all[(first + place) % all.length] as TrackedPool,
  )
  const identities = sample.flatMap((one) => identityOf(one, setup.dexes) ?? [])
  const states = await readWhole(readContext, at.hash, await readBases(readContext, at.hash, identities), setup.dexes)
  const differing = new Map<string, TrackedPool>()
  for (const state of states) {
    const ours = pools.get(keyOf(state.pool))
    if (ours !== undefined && !isSame(ours, state)) differing.set(keyOf(state.pool), state)
  }
  if (differing.size === 0) return
  counts.differences += differing.size
  log.error(
    { network: network.id, height: at.height, pools: [...differing.keys()] },
    'pools differ from the chain and were replaced',
  )
  pools.repair(differing)
}

/** If only a range of ticks is read, the range may differ: compares the ticks that both states have. */
function isSame(ours: TrackedPool, theirs: TrackedPool): boolean {
  const { low, high } = {
    low: Math.max(ours.range?.low ?? -Infinity, theirs.range?.low ?? -Infinity),
    high: Math.min(ours.range?.high ?? Infinity, theirs.range?.high ?? Infinity),
  }
  const shared = ({ ticks = [] }: TrackedPool) => ticks.filter(({ index }) => index >= low && index <= high)
  return textOf({ ...ours.pool, ticks: shared(ours) }) === textOf({ ...theirs.pool, ticks: shared(theirs) })
}

const textOf = (state: object): string =>
  JSON.stringify(state, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
