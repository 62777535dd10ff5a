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

/** Polls for a new block per block time. */
const POLLS_PER_BLOCK = 4
/** Without a new block for this many block times, the network has halted or is unused: it is polled once per block time. */
const OVERDUE_BLOCKS = 5
/** Fundings and rescans are looked for after each block, and this often without one. */
const LOOK_EVERY_MS = 10_000

/** Pause before the next poll, from the time since the newest block was seen; all in ms. Between 200 ms and 10 s. */
export function pollPauseMs(blockTimeMs: number, sinceBlockMs: number): number {
  const isOverdue = sinceBlockMs > OVERDUE_BLOCKS * blockTimeMs
  return Math.min(Math.max(isOverdue ? blockTimeMs : blockTimeMs / POLLS_PER_BLOCK, 200), 10_000)
}

/** Records one network until it is stopped. Several watchers of a network are safe (I-27). */
export function watchChain({
  chain,
  recordBlocks,
  countFundings,
  rescanBlocks,
  onProgress,
  onError,
}: WatchChain): Loop {
  const { blockTimeMs } = chain.network
  let newest = { height: -1, at: -Infinity }
  let looked = { height: -1, at: -Infinity }
  const pauseAt = (now: number) => pollPauseMs(blockTimeMs, now - newest.at)
  return startLoop({
    paceMs: pollPauseMs(blockTimeMs, 0),
    backoffMs: 15_000,
    turn: async () => {
      const progress = await recordBlocks(chain)
      onProgress(chain.network.id, progress)
      const now = performance.now()
      if (progress.height !== newest.height) newest = { height: progress.height, at: now }
      if (progress.height === looked.height && now - looked.at < LOOK_EVERY_MS) return pauseAt(now)
      await countFundings(chain)
      // The newest blocks come first.
      if (progress.behind > 0 || (await rescanBlocks(chain))) return 'again'
      looked = { height: progress.height, at: now }
      return pauseAt(now)
    },
    onError: (error) => onError(chain.network.id, error),
  })
}
