import type { BlockRef } from '../../core/ports/chain.ts'
import type { ChainReader, ScannedBlock } from '../ports/chain.ts'

/** Blocks that are read at the same time while a watcher is behind. */
const AT_ONCE_MAX = 4
/** Transfers and transactions of a block above which the next ones are read one by one: full blocks need much memory. */
const LARGE = 5_000

export type BlockPrefetch = Readonly<{
  /** The block above the cursor: what the nodes return now, or returned earlier if that one follows the cursor. */
  next(cursor: BlockRef): Promise<ScannedBlock | null>
}>

/**
 * Reads blocks in their order, and at the same time those that follow, up to the last height. The first one is read alone, and one
 * more with every block that is not large, so that a process that ended for lack of memory begins with one.
 */
export function prefetchBlocks(reader: Pick<ChainReader, 'block'>, lastHeight: number): BlockPrefetch {
  const early = new Map<number, Promise<ScannedBlock | null>>()
  let atOnce = 1

  function start(height: number): void {
    if (early.has(height)) return
    // A block that fails is read again in its turn.
    early.set(
      height,
      reader.block(height).catch(() => null),
    )
  }

  return {
    async next({ height: below, hash }) {
      const height = below + 1
      const read = early.get(height)
      for (const passed of early.keys()) if (passed <= height) early.delete(passed)
      for (let n = 1; n < atOnce && height + n <= lastHeight; n++) start(height + n)
      const readNow = () => reader.block(height)
      const block = await (read === undefined
        ? readNow()
        : read.then((one) => (one?.parentHash === hash ? one : readNow())))
      const isLarge = block !== null && block.transfers.length + block.transactions.length > LARGE
      atOnce = isLarge ? 1 : Math.min(atOnce + 1, AT_ONCE_MAX)
      return block
    },
  }
}
