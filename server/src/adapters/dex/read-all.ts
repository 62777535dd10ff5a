import { createHash } from 'node:crypto'
import type { Dex } from '../../swap/domain/dex.ts'
import { checkDex } from './check-dexes.ts'
import { keyOf, readBases, readWhole } from './dex-readers.ts'
import { discover } from './discover.ts'
import { createFollower } from './follow.ts'
import { type Header, headerAt, latestHeader } from './headers.ts'
import { unpack } from './pack.ts'
import { selectWithinLimits, rank } from './rank.ts'
import type { NetworkSetup, SyncContext } from './sync-context.ts'
import { wordAt, wordsOf } from './abi-words.ts'

const DECIMALS = '0x313ce567'

/** Asks the chain which DEXes are there, and takes up the pools of the last snapshot, or reads them all. */
export async function setUp(context: SyncContext, head: Header): Promise<void> {
  const dexes = await usableDexes(context, head)
  const follower = createFollower(context.readContext, dexes, context.pools)
  const setup = { dexes, follower, stablecoinUnit: await readStablecoinUnit(context, head) }
  if (!(await restoreSnapshot(context, setup))) await readAll(context, setup)
  context.setup.value = setup
}

/** What a snapshot is of. Pools of other DEXes, connector tokens or tokens are not in it: then all is looked for anew. */
export function originOf({ tokens, dexNetwork }: SyncContext, { dexes }: NetworkSetup): string {
  const { wrapped, connectors } = dexNetwork
  const known = { wrapped, connectors, tokens, dexes: [...dexes.values()] }
  return createHash('sha256').update(JSON.stringify(known)).digest('hex')
}

async function usableDexes(
  { rpc, readContext, dexNetwork, network, log }: SyncContext,
  head: Header,
): Promise<ReadonlyMap<string, Dex>> {
  const connectors = [dexNetwork.wrapped, ...dexNetwork.connectors]
  const asked = dexNetwork.dexes.filter(({ enabled }) => enabled !== false)
  const usable = new Map<string, Dex>()
  for (const dex of asked) {
    const { fault } = await checkDex(rpc(), readContext, head.hash, dex, connectors)
    if (fault === null) usable.set(dex.name, dex)
    else log.warn({ network: network.id, dex: dex.name, fault }, 'dex disabled')
  }
  return usable
}

async function readStablecoinUnit({ readContext, dexNetwork }: SyncContext, head: Header): Promise<number | null> {
  if (dexNetwork.stablecoin === undefined) return null
  const [answer] = await readContext.reader.read(head.hash, [{ to: dexNetwork.stablecoin, calldata: DECIMALS }])
  return answer ? 10 ** Number(wordAt(wordsOf(answer), 0)) : null
}

/** False where there is no snapshot of a block that the chain still has. */
async function restoreSnapshot(context: SyncContext, setup: NetworkSetup): Promise<boolean> {
  const { deps, network, rpc, pools, log } = context
  try {
    const snapshot = await deps.snapshots.load(network.id)
    if (snapshot === null) return false
    const kept = await unpack(snapshot.packed, originOf(context, setup))
    const { height, hash } = snapshot.block
    if (kept === null || (await headerAt(rpc(), height))?.hash !== hash) return false
    pools.reset(snapshot.block, kept)
    log.info({ network: network.id, pools: kept.length, height }, 'pools taken up')
    return true
  } catch (err) {
    log.warn({ err, network: network.id }, 'no snapshot of pools')
    return false
  }
}

/** Every pool anew, as after the newest block. */
export async function readAll(context: SyncContext, setup: NetworkSetup): Promise<void> {
  const read = async () => readAt(context, await latestHeader(context.rpc()), setup)
  await (context.deps.heavy ? context.deps.heavy(read) : read())
}

async function readAt(context: SyncContext, head: Header, { dexes, follower }: NetworkSetup): Promise<void> {
  const { readContext, dexNetwork, settings, pools, network, log, tokens } = context
  context.counts.rereads++
  const found = await discover({
    rpc: context.rpc(),
    readContext,
    dexes: [...dexes.values()],
    connectors: dexNetwork.connectors,
    tokens,
    at: head,
    scanBlocksMax: settings.scanBlocksMax,
    onSkipped: (dex, err) => log.warn({ err, network: network.id, dex: dex.name }, 'the past of a dex was not told'),
  })
  const bases = await readBases(readContext, head.hash, found)
  const known = new Set(bases.map(({ pool }) => keyOf(pool)))
  follower.wait(found.filter(({ id }) => !known.has(id)))
  const ranked = rank(bases, dexNetwork.wrapped, settings.poolsMax)
  const whole = selectWithinLimits(await readWhole(readContext, head.hash, ranked, dexes), settings)
  pools.reset({ height: head.height, hash: head.hash }, whole)
  log.info({ network: network.id, found: found.length, pools: whole.length, height: head.height }, 'pools read')
}
