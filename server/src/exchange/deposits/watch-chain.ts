import { type Loop, startLoop } from '../../lib/loop.ts'
import type { Chain } from '../ports/chain.ts'
import type { Progress } from './record-blocks.ts'

export type WatchChain = Readonly<{
  chain: Chain
  recordBlocks(chain: Chain): Promise<Progress>
  countFundings(chain: Chain): Promise<void>
  /** Returns whether blocks are left to read now. */
  rescanBlocks(chain: Chain): Promise<boolean>
  onProgress(network: string, progress: Progress): void
  onError(network: string, error: unknown): void
}>

/** Polls for a new block this many times per block time, at least every 10 s and at most every 200 ms. */
const POLLS_PER_BLOCK = 4
/** Fundings and rescans are looked for after each block, and this often without one. */
const LOOK_EVERY_MS = 2_000

/** Records one network until it is stopped. Several watchers of a network are safe (I-27). */
export function watchChain({
  chain,
  recordBlocks,
  countFundings,
  rescanBlocks,
  onProgress,
  onError,
}: WatchChain): Loop {
  const paceMs = Math.min(Math.max(chain.network.blockTimeMs / POLLS_PER_BLOCK, 200), 10_000)
  let looked = { height: -1, at: -Infinity }
  return startLoop({
    paceMs,
    backoffMs: 15_000,
    turn: async () => {
      const progress = await recordBlocks(chain)
      onProgress(chain.network.id, progress)
      const now = performance.now()
      if (progress.height === looked.height && now - looked.at < LOOK_EVERY_MS) return undefined
      await countFundings(chain)
      // The newest blocks come first.
      if (progress.behind > 0 || (await rescanBlocks(chain))) return 'again'
      looked = { height: progress.height, at: now }
      return undefined
    },
    onError: (error) => onError(chain.network.id, error),
  })
}
