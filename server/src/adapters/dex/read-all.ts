import { createHash } from 'node:crypto'
import type { Dex } from '../../swap/domain/dex.ts'
import { hasLiquidity } from '../pools/rank.ts'
import { wordAt, wordsOf } from './abi-words.ts'
import { admitAll } from './admission.ts'
import { checkDex } from './check-dexes.ts'
import { keyOf, readBases } from './dex-readers.ts'
import { discover } from './discover.ts'
import { createFollower } from './follow.ts'
import { type Header, headerAt, latestHeader } from './headers.ts'
import { unpack } from './pack.ts'
import type { NetworkSetup, SyncContext } from './sync-context.ts'

const DECIMALS = '0x313ce567'

/** Checks the DEXes on the chain, then restores the pools from the snapshot or reads them all. */
export async function setUp(context: SyncContext, head: Header): Promise<void> {
  const dexes = await usableDexes(context, head)
  const follower = createFollower(context.readContext, dexes, context.pools, context.listing)
  const setup = { dexes, follower, stablecoinUnit: await readStablecoinUnit(context, head) }
  if (!(await restoreSnapshot(context, setup))) await readAll(context, setup)
  context.setup.value = setup
}

/** Hash of the DEXes and tokens of a snapshot. A snapshot with another origin is discarded. */
export function originOf({ tokens, dexNetwork }: SyncContext, { dexes }: NetworkSetup): string {
  const { wrapped, connectors } = dexNetwork
  const origin = { wrapped, connectors, tokens, dexes: [...dexes.values()] }
  return createHash('sha256').update(JSON.stringify(origin)).digest('hex')
}

async function usableDexes(
  { rpc, readContext, dexNetwork, network, log }: SyncContext,
  head: Header,
): Promise<ReadonlyMap<string, Dex>> {
  const connectors = [dexNetwork.wrapped, ...dexNetwork.connectors]
  const enabledDexes = dexNetwork.dexes.filter(({ enabled }) => enabled !== false)
  const usable = new Map<string, Dex>()
  for (const dex of enabledDexes) {
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

/** False without a usable snapshot of a block that is still on the chain. */
async function restoreSnapshot(context: SyncContext, setup: NetworkSetup): Promise<boolean> {
  const { options, network, rpc, pools, log } = context
  try {
    const snapshot = await options.snapshots.load(network.id)
    if (snapshot === null) return false
    const stored = await unpack(snapshot.packed, originOf(context, setup))
    if (stored === null) return false
    // Also of a snapshot that cannot be used: else a restart would hide that liquidity has left.
    context.depths.restore(stored.depths)
    const { height, hash } = snapshot.block
    if (stored.tracked === null || (await headerAt(rpc(), height))?.hash !== hash) return false
    pools.reset(snapshot.block, stored.tracked)
    log.info({ network: network.id, pools: stored.tracked.length, height }, 'pools restored from the snapshot')
    return true
  } catch (err) {
    log.warn({ err, network: network.id }, 'pool snapshot could not be loaded')
    return false
  }
}

/** Reads every pool at the newest block. */
export async function readAll(context: SyncContext, setup: NetworkSetup): Promise<void> {
  const read = async () => readAt(context, await latestHeader(context.rpc()), setup)
  await (context.options.fullReadLimit ? context.options.fullReadLimit(read) : read())
}

async function readAt(context: SyncContext, head: Header, { dexes, follower }: NetworkSetup): Promise<void> {
  const { readContext, dexNetwork, settings, pools, network, log, tokens, listing } = context
  context.counts.rereads++
  const identities = await discover({
    rpc: context.rpc(),
    readContext,
    dexes: [...dexes.values()],
    connectors: dexNetwork.connectors,
    tokens,
    listing,
    at: head,
    scanBlocksMax: settings.scanBlocksMax,
    onSkipped: (dex, err) =>
      log.warn(
        { err, network: network.id, dex: dex.name },
        'dex logs could not be scanned; pools were looked up by pairs',
      ),
  })
  const bases = await readBases(readContext, head.hash, identities)
  const selected = await admitAll({ readContext, at: head.hash, dexes, listing }, bases, settings)
  const withLiquidity = new Set(bases.flatMap(({ pool }) => (hasLiquidity(pool) ? [keyOf(pool)] : [])))
  const selectedKeys = new Set(selected.map(({ pool }) => keyOf(pool)))
  follower.watchEmpty(identities.filter(({ id }) => !withLiquidity.has(id) && !selectedKeys.has(id)))
  context.dropped.remember(identities.filter(({ id }) => withLiquidity.has(id) && !selectedKeys.has(id)))
  pools.reset({ height: head.height, hash: head.hash }, selected)
  log.info({ network: network.id, found: identities.length, pools: selected.length, height: head.height }, 'pools read')
}
