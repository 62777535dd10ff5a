import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { isUtxoFamily } from '../../core/domain/network.ts'
import { type PriceSnapshot, usdValue } from '../../core/domain/price.ts'
import type { BlockRef } from '../../core/ports/chain.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { AppendRules } from '../ports/store/chain-log.ts'
import type { Store } from '../ports/store/store.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'
import { requiredConfirmations, requiredFinalityTag, type ServiceSettings, tierUsd } from '../settings.ts'
import { prefetchBlocks } from './prefetch-blocks.ts'

export type RecordBlocksDeps = Readonly<{
  store: Store
  assetOf(network: string, contract: string | null): Asset | null
  assetById(assetId: AssetId): Asset
  priceKeyOf(assetId: AssetId): string
  books: BookSnapshot
  settings: Pick<ServiceSettings, 'fundingsAreCapital' | 'guards'>
  log: Log
}>

/** Blocks per call, so that catching up reports progress and can be stopped. */
const BLOCKS_MAX = 200
/** The first start begins at most this many blocks below the head. */
const START_BELOW_MAX = 64

export type Progress = Readonly<{ height: number; behind: number }>

/** Sightings that are inspected per call, each with a few requests to a node. */
const INSPECTIONS_MAX = 50
/**
 * Exchanges expire up to this much later, and the store is written this much less often. While the head stays, the cursor is read
 * again this often, because another watcher may have rewound it.
 */
const CAUGHT_UP_EVERY_MS = 5_000

/** Records the blocks of one network up to its head, and rewinds after a reorganisation. */
export function createRecordBlocks(deps: RecordBlocksDeps) {
  const caughtUpAt = new Map<string, number>()
  /** Heads whose blocks are all recorded. */
  const recorded = new Map<string, BlockRef>()
  return async function recordBlocks(chain: Chain): Promise<Progress> {
    const network = chain.network.id
    const startedAt = performance.now()
    const head = await chain.reader.head()
    const isCaughtUpDue = startedAt - (caughtUpAt.get(network) ?? -Infinity) >= CAUGHT_UP_EVERY_MS
    if (recorded.get(network)?.hash === head.hash && !isCaughtUpDue) {
      await recordPending(deps, chain)
      return { height: head.height, behind: 0 }
    }
    // If this pass fails after a rewind, the next one reads the cursor again, whatever the head is then.
    recorded.delete(network)
    let cursor = (await deps.store.chainLog.cursor(network)) ?? (await start(deps, chain, head))
    const blocks = prefetchBlocks(chain.reader, Math.min(head.height, cursor.height + BLOCKS_MAX))
    for (let n = 0; n < BLOCKS_MAX; n++) {
      if (!(await isOnBestChain(deps, chain, cursor, head))) {
        cursor = await rewind(deps, chain, cursor, head)
        continue
      }
      if (cursor.height >= head.height) break
      const block = await blocks.next(cursor)
      if (!block) break
      if (block.parentHash !== cursor.hash) {
        cursor = await rewind(deps, chain, cursor, head)
        continue
      }
      const rules = rulesOf(deps, chain)
      const appended = await deps.store.transaction((tx) => tx.chainLog.append(network, block, rules))
      checkpoint('watch.appended')
      // If another watcher was faster, continue from its cursor.
      cursor = appended ? block : ((await deps.store.chainLog.cursor(network)) ?? cursor)
    }
    if (cursor.hash === head.hash) recorded.set(network, head)
    await recordPending(deps, chain)
    if (cursor.height >= head.height && isCaughtUpDue) {
      await deps.store.chainLog.recordCaughtUp(network, performance.now() - startedAt)
      await deps.store.alarms.clear(`reorg:${network}`)
      caughtUpAt.set(network, startedAt)
    }
    return { height: cursor.height, behind: Math.max(head.height - cursor.height, 0) }
  }
}

/** Unconfirmed payments only inform: without them blocks are recorded, deposits count and exchanges expire as well. */
async function recordPending(deps: RecordBlocksDeps, chain: Chain): Promise<void> {
  const network = chain.network.id
  const transfers = await withoutFailure(deps, chain, 'the mempool was not read', chain.reader.mempool())
  // What no deposit can follow must not show as one.
  const pending = (transfers ?? []).filter(({ contract }) => deps.assetOf(network, contract) !== null)
  await deps.store.chainLog.recordSightings(network, pending)
  await inspectSightings(deps, chain)
}

/** Logs an error of a node, and returns undefined. */
function withoutFailure<T>(
  { log }: RecordBlocksDeps,
  { network }: Chain,
  failure: string,
  reply: Promise<T>,
  fields: Readonly<Record<string, string>> = {},
): Promise<T | undefined> {
  return reply.catch((err: unknown) => {
    if (!(err instanceof AppError)) throw err
    log.warn({ network: network.id, ...fields, err }, failure)
    return undefined
  })
}

/** Asks the nodes which unconfirmed payments stop the clock of their fixed rates. One without an answer is asked for again. */
async function inspectSightings(deps: RecordBlocksDeps, chain: Chain): Promise<void> {
  const { network, reader } = chain
  const { store } = deps
  if (reader.inspectPending === undefined) return
  for (const txHash of await store.chainLog.listSightingsToInspect(network.id, INSPECTIONS_MAX)) {
    const reply = reader.inspectPending(txHash)
    const payment = await withoutFailure(deps, chain, 'an unconfirmed payment was not read', reply, { txHash })
    if (payment === undefined) continue
    // If it is mined meanwhile, its block counts.
    await store.chainLog.recordInspection(
      network.id,
      txHash,
      payment ?? { stopsClock: false, spends: [], seenAt: null },
    )
  }
}

/**
 * Begins a new network a little below its head: we received nothing before, and a reorganisation in the first minutes still
 * ends at a recorded block.
 */
async function start({ store, log }: RecordBlocksDeps, chain: Chain, head: BlockRef): Promise<BlockRef> {
  const { id: network, finalityBlocks } = chain.network
  const block = await chain.reader.block(Math.max(head.height - Math.min(finalityBlocks, START_BELOW_MAX), 0))
  if (!block) throw new AppError('NETWORK_UNAVAILABLE', `the head of ${network} cannot be read`)
  if (await store.chainLog.begin(network, block)) log.info({ network, height: block.height }, 'watching a new network')
  return (await store.chainLog.cursor(network)) ?? block
}

/**
 * Whether the cursor is on the best chain. Below the head, the parent hash of the next block decides later. A head below the
 * cursor means that a node lags, unless another block stands at that height; recorded blocks then stay, and nothing in
 * them is credited until all nodes have them.
 */
async function isOnBestChain(
  { store }: RecordBlocksDeps,
  chain: Chain,
  cursor: BlockRef,
  head: BlockRef,
): Promise<boolean> {
  if (cursor.height < head.height) return true
  const hash =
    cursor.height === head.height ? cursor.hash : await store.chainLog.blockHash(chain.network.id, head.height)
  if (hash === null || hash === head.hash) return true
  // The head was read earlier, so ask again.
  return chain.reader.agrees({ height: head.height, hash })
}

/** Rewinds to the last recorded block that is on the best chain. A block that no node returns proves nothing. */
async function rewind(
  { store, log }: RecordBlocksDeps,
  chain: Chain,
  from: BlockRef,
  head: BlockRef,
): Promise<BlockRef> {
  const network = chain.network.id
  for (let height = from.height - 1; ; height--) {
    const hash = await store.chainLog.blockHash(network, height)
    if (hash === null) {
      await store.alarms.raise(`reorg:${network}`, 'a reorganisation is deeper than the stored blocks', {
        from: from.height,
      })
      throw new AppError('NETWORK_UNAVAILABLE', `${network} was reorganised below the stored blocks`)
    }
    const block = await chain.reader.block(height)
    if (block === null && height <= head.height)
      throw new AppError('NETWORK_UNAVAILABLE', `no node of ${network} returns block ${height}`)
    if (block?.hash !== hash) continue
    const rewound = await store.transaction((tx) => tx.chainLog.rewind(network, height, from))
    checkpoint('watch.rewound')
    if (rewound) log.warn({ network, from: from.height, to: height }, 'reorganisation')
    return (await store.chainLog.cursor(network)) ?? { height, hash }
  }
}

export function rulesOf(deps: RecordBlocksDeps, { network, reader }: Chain): AppendRules {
  const { prices } = deps.books.current()
  const { inFlightFactor } = deps.settings.guards
  return {
    assetOf: (contract) => deps.assetOf(network.id, contract),
    requirements: (assetId, units, inFlight) => {
      // What has no price waits longest itself.
      const inFlightUsd = inFlight.reduce((sum, one) => sum + (usdOf(deps, prices, one.assetId, one.units) ?? 0n), 0n)
      const usd = tierUsd(assetId === null ? null : usdOf(deps, prices, assetId, units), inFlightUsd, inFlightFactor)
      return {
        confirmations: requiredConfirmations(network.confirmations, network.finalityBlocks, usd),
        tag: requiredFinalityTag(network.evm, usd),
      }
    },
    inFlightBlocks: requiredConfirmations(network.confirmations, network.finalityBlocks, null),
    // Where deposits share the hot address and differ by memo, it may be a deposit with a wrong memo.
    areFundingsUnclaimed: network.memo !== 'none' || !deps.settings.fundingsAreCapital,
    fundingConfirmations: network.confirmations,
    // Four times the deepest depth that is waited for, so that a reorganisation ends within the stored blocks.
    keepBlocks: Math.max(network.finalityBlocks, network.confirmations * 4) * 4 + 64,
    tracksUtxos: isUtxoFamily(network),
    outpoint: (transfer, path) => reader.outpoint?.(transfer, path) ?? transfer.identity,
  }
}

function usdOf(deps: RecordBlocksDeps, prices: PriceSnapshot, id: AssetId, units: bigint): bigint | null {
  const price = prices.usd.get(deps.priceKeyOf(id))
  return price === undefined ? null : usdValue(units, deps.assetById(id), price.ask, 'up')
}
