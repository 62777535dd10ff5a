import { createHash } from 'node:crypto'
import type { Dex } from '../../swap/domain/dex.ts'
import { checkDex } from './check-dexes.ts'
import { keyOf, readBases, readWhole } from './dex-readers.ts'
import { discover } from './discover.ts'
import { createFollower } from './follow.ts'
import { type Header, headerAt, latestHeader } from './headers.ts'
import { unpack } from './pack.ts'
import { fit, rank } from './rank.ts'
import type { Begun, Synced } from './synced.ts'
import { wordAt, wordsOf } from './words.ts'

const DECIMALS = '0x313ce567'

/** Asks the chain which DEXes are there, and takes up the pools of the last snapshot, or reads them all. */
export async function begin(synced: Synced, head: Header): Promise<void> {
  const dexes = await usableDexes(synced, head)
  const follower = createFollower(synced.ground, dexes, synced.pools)
  const begun = { dexes, follower, dollarUnit: await readDollarUnit(synced, head) }
  if (!(await takeUp(synced, begun))) await readAll(synced, begun)
  synced.begun.value = begun
}

/** What a snapshot is of. Pools of other DEXes, connector tokens or tokens are not in it: then all is looked for anew. */
export function originOf({ tokens, dexNetwork }: Synced, { dexes }: Begun): string {
  const { wrapped, connectors } = dexNetwork
  const known = { wrapped, connectors, tokens, dexes: [...dexes.values()] }
  return createHash('sha256').update(JSON.stringify(known)).digest('hex')
}

async function usableDexes(
  { rpc, ground, dexNetwork, network, log }: Synced,
  head: Header,
): Promise<ReadonlyMap<string, Dex>> {
  const connectors = [dexNetwork.wrapped, ...dexNetwork.connectors]
  const asked = dexNetwork.dexes.filter(({ enabled }) => enabled !== false)
  const usable = new Map<string, Dex>()
  for (const dex of asked) {
    const { fault } = await checkDex(rpc(), ground, head.hash, dex, connectors)
    if (fault === null) usable.set(dex.name, dex)
    else log.warn({ network: network.id, dex: dex.name, fault }, 'dex disabled')
  }
  return usable
}

async function readDollarUnit({ ground, dexNetwork }: Synced, head: Header): Promise<number | null> {
  if (dexNetwork.stablecoin === undefined) return null
  const [answer] = await ground.reader.read(head.hash, [{ to: dexNetwork.stablecoin, calldata: DECIMALS }])
  return answer ? 10 ** Number(wordAt(wordsOf(answer), 0)) : null
}

/** False where there is no snapshot of a block that the chain still has. */
async function takeUp(synced: Synced, begun: Begun): Promise<boolean> {
  const { deps, network, rpc, pools, log } = synced
  try {
    const snapshot = await deps.snapshots.load(network.id)
    if (snapshot === null) return false
    const kept = await unpack(snapshot.packed, originOf(synced, begun))
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
export async function readAll(synced: Synced, begun: Begun): Promise<void> {
  const read = async () => readAt(synced, await latestHeader(synced.rpc()), begun)
  await (synced.deps.heavy ? synced.deps.heavy(read) : read())
}

async function readAt(synced: Synced, head: Header, { dexes, follower }: Begun): Promise<void> {
  const { ground, dexNetwork, settings, pools, network, log, tokens } = synced
  synced.counts.rereads++
  const found = await discover({
    rpc: synced.rpc(),
    ground,
    dexes: [...dexes.values()],
    connectors: dexNetwork.connectors,
    tokens,
    at: head,
    scanBlocksMax: settings.scanBlocksMax,
    onSkipped: (dex, err) => log.warn({ err, network: network.id, dex: dex.name }, 'the past of a dex was not told'),
  })
  const bases = await readBases(ground, head.hash, found)
  const known = new Set(bases.map(({ pool }) => keyOf(pool)))
  follower.wait(found.filter(({ id }) => !known.has(id)))
  const ranked = rank(bases, dexNetwork.wrapped, settings.poolsMax)
  const whole = fit(await readWhole(ground, head.hash, ranked, dexes), settings)
  pools.reset({ height: head.height, hash: head.hash }, whole)
  log.info({ network: network.id, found: found.length, pools: whole.length, height: head.height }, 'pools read')
}
