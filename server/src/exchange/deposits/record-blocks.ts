import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { spendsInPlace } from '../../core/domain/network.ts'
import { type PriceSnapshot, usdValue } from '../../core/domain/price.ts'
import type { BlockRef } from '../../core/ports/chain.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { AppendRules } from '../ports/store/chain-log.ts'
import type { Store } from '../ports/store/store.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'
import { requiredConfirmations, requiredFinalityTag } from '../settings.ts'

export type RecordBlocksDeps = Readonly<{
  store: Store
  assetOf(network: string, contract: string | null): Asset | null
  assetById(assetId: AssetId): Asset
  priceKeyOf(assetId: AssetId): string
  books: BookSnapshot
  log: Log
}>

/** Blocks recorded by one call: catching up shows its progress and can be stopped. */
const BLOCKS_MAX = 200
/** Blocks below the head that a first start scans at most. */
const START_BELOW_MAX = 64

export type Progress = Readonly<{ height: number; behind: number }>

/** Brings what is recorded of one network up to its head: block by block, undoing what a reorganisation took away. */
export function createRecordBlocks(deps: RecordBlocksDeps) {
  return async function recordBlocks(chain: Chain): Promise<Progress> {
    const network = chain.network.id
    const head = await chain.reader.head()
    let cursor = (await deps.store.chainLog.cursor(network)) ?? (await start(deps, chain, head))
    for (let n = 0; n < BLOCKS_MAX; n++) {
      if (!(await onBestChain(deps, chain, cursor, head))) {
        cursor = await rewind(deps, chain, cursor)
        continue
      }
      if (cursor.height >= head.height) break
      const block = await chain.reader.block(cursor.height + 1)
      if (!block) break
      if (block.parentHash !== cursor.hash) {
        cursor = await rewind(deps, chain, cursor)
        continue
      }
      const rules = rulesOf(deps, chain)
      const appended = await deps.store.transaction((tx) => tx.chainLog.append(network, block, rules))
      checkpoint('watch.appended')
      // Another watcher of this network was faster: go on from where it is.
      cursor = appended ? block : ((await deps.store.chainLog.cursor(network)) ?? cursor)
    }
    await deps.store.chainLog.recordSightings(network, await chain.reader.mempool())
    return { height: cursor.height, behind: Math.max(head.height - cursor.height, 0) }
  }
}

/**
 * A network that is seen for the first time is followed from a little below its head on: nothing of ours lies before it,
 * and a reorganisation of the first minutes ends at a block that is recorded.
 */
async function start({ store, log }: RecordBlocksDeps, chain: Chain, head: BlockRef): Promise<BlockRef> {
  const { id: network, finalityBlocks } = chain.network
  const block = await chain.reader.block(Math.max(head.height - Math.min(finalityBlocks, START_BELOW_MAX), 0))
  if (!block) throw new AppError('NETWORK_UNAVAILABLE', `the head of ${network} cannot be read`)
  if (await store.chainLog.begin(network, block)) log.info({ network, height: block.height }, 'watching from here on')
  return (await store.chainLog.cursor(network)) ?? block
}

/**
 * The head proves it where it is reached; below it, the next block's parent does. A common head below what is recorded
 * is a node that lags, unless another block than ours is there: what is recorded stays, and nothing is credited of it
 * while the nodes don't all have it.
 */
async function onBestChain(
  { store }: RecordBlocksDeps,
  chain: Chain,
  cursor: BlockRef,
  head: BlockRef,
): Promise<boolean> {
  if (cursor.height < head.height) return true
  const hash =
    cursor.height === head.height ? cursor.hash : await store.chainLog.blockHash(chain.network.id, head.height)
  if (hash === null || hash === head.hash) return true
  // The head was read a while ago: what is there now decides.
  return chain.reader.agrees({ height: head.height, hash })
}

/** Walks down to the last block that is recorded and on the best chain. */
async function rewind({ store, log }: RecordBlocksDeps, chain: Chain, from: BlockRef): Promise<BlockRef> {
  const network = chain.network.id
  for (let height = from.height - 1; ; height--) {
    const hash = await store.chainLog.blockHash(network, height)
    if (hash === null) {
      await store.alarms.raise(`reorg:${network}`, 'a reorganisation is deeper than what is recorded', {
        from: from.height,
      })
      throw new AppError('NETWORK_UNAVAILABLE', `${network} was reorganised below what is recorded`)
    }
    const block = await chain.reader.block(height)
    if (block?.hash !== hash) continue
    const rewound = await store.transaction((tx) => tx.chainLog.rewind(network, height, from))
    checkpoint('watch.rewound')
    if (rewound) log.warn({ network, from: from.height, to: height }, 'reorganisation')
    return (await store.chainLog.cursor(network)) ?? { height, hash }
  }
}

function rulesOf(deps: RecordBlocksDeps, { network, reader }: Chain): AppendRules {
  const { prices } = deps.books.current()
  return {
    assetOf: (contract) => deps.assetOf(network.id, contract),
    requirements: (assetId, units) => {
      const usd = assetId === null ? null : usdOf(deps, prices, assetId, units)
      return {
        confirmations: requiredConfirmations(network.confirmations, network.finalityBlocks, usd),
        tag: requiredFinalityTag(network.evm, usd),
      }
    },
    usesMemos: network.memo !== 'none',
    fundingConfirmations: network.confirmations,
    // Deeper than anything that is waited for, twice over, so that every reorganisation ends inside of it.
    keepBlocks: Math.max(network.finalityBlocks, network.confirmations * 4) * 4 + 64,
    tracksUtxos: spendsInPlace(network),
    outpoint: (transfer, path) => reader.outpoint?.(transfer, path) ?? transfer.identity,
  }
}

function usdOf(deps: RecordBlocksDeps, prices: PriceSnapshot, id: AssetId, units: bigint): bigint | null {
  const price = prices.usd.get(deps.priceKeyOf(id))
  return price === undefined ? null : usdValue(units, deps.assetById(id), price.ask, 'up')
}
