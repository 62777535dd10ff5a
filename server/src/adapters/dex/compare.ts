import { AppError } from '../../core/domain/errors.ts'
import { identityOf, keyOf, readBases, readWhole } from './dex-readers.ts'
import type { SyncContext } from './sync-context.ts'
import type { PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'

type States = ReadonlyMap<string, TrackedPool>

/**
 * Compares some pools with the chain, as the next node sees it. Differing pools are counted. If our own node now agrees with the next
 * one, we were wrong and the state is replaced; if the nodes contradict each other, the pool is dropped until a lookup finds it again.
 */
export async function compareSample(context: SyncContext, first: number): Promise<void> {
  const { pools, settings, readContext, otherReadContext, counts, log, network } = context
  const at = pools.block()
  const setup = context.setup.value
  if (at === null || setup === null) return
  const all = pools.all()
  const sample = Array.from(
    { length: Math.min(settings.comparePools, all.length) },
    (_, place) => all[(first + place) % all.length] as TrackedPool,
  )
  const identities = sample.flatMap((one) => identityOf(one, setup.dexes) ?? [])
  const read = async (from: ReadContext, some: readonly PoolIdentity[]): Promise<States> => {
    const states = await readWhole(from, at.hash, await readBases(from, at.hash, some), setup.dexes)
    return new Map(states.map((state) => [keyOf(state.pool), state]))
  }
  const byOther = otherReadContext === null ? null : await read(otherReadContext, identities).catch(ignoreUnavailable)
  const theirs = byOther ?? (await read(readContext, identities))
  const differing = identities.filter(({ id }) => {
    const [ours, state] = [pools.get(id), theirs.get(id)]
    return ours !== undefined && state !== undefined && !isSame(ours, state)
  })
  if (differing.length === 0) return
  const fields = { network: network.id, height: at.height }
  counts.differences += differing.length
  const own = byOther === null ? theirs : await read(readContext, differing)
  const replaced = new Map<string, TrackedPool>()
  const contradicted: string[] = []
  for (const { id } of differing) {
    const [mine, other] = [own.get(id), theirs.get(id)]
    if (mine !== undefined && other !== undefined && isSame(mine, other)) replaced.set(id, mine)
    else contradicted.push(id)
  }
  if (replaced.size > 0) {
    log.error({ ...fields, pools: [...replaced.keys()] }, 'pools differ from the chain and were replaced')
    pools.repair(replaced)
  }
  if (contradicted.length === 0) return
  log.error({ ...fields, pools: contradicted }, 'nodes contradict each other about pools, which were dropped')
  context.dropped.remember(identities.filter(({ id }) => contradicted.includes(id)))
  pools.drop(contradicted)
}

/** The next node may be down, or lag behind our block: then the own node is asked. */
function ignoreUnavailable(error: unknown): null {
  if (error instanceof AppError && error.retryable) return null
  throw error
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
