import type { LocalChain } from './local-chain.ts'
import { log } from './log.ts'

export type IntervalMiner = Readonly<{
  /** Stops mining and resolves when the current tick has finished. */
  pause(): Promise<void>
  resume(): void
  /** Restarts the idle timer. */
  recordUse(): void
  stop(): Promise<void>
}>

const defaultBlockIntervalMs = 1000
/**
 * Idle chains mine less often: empty blocks cost the node, and each server that follows it, as much as others. A minute is longer
 * than the confirmations and the finality of a transaction take at full speed.
 */
const idleAfterMs = 60_000
const idleBlockIntervalMs = 15_000

/**
 * Mines a block every second, or at the chain's own interval. After a minute without a request or a transaction the interval is fifteen seconds; a
 * new transaction is still mined within one second.
 */
export function startIntervalMiner(chain: LocalChain, offsetMs: number): IntervalMiner {
  const blockIntervalMs = chain.blockIntervalMs ?? defaultBlockIntervalMs
  let isPaused = false
  let isStopped = false
  let isFailing = false
  let lastUseMs = performance.now()
  let lastBlockMs = lastUseMs
  const firstDelayMs = offsetMs + (chain.firstBlockDelayMs ?? 0)
  let nextTickMs = lastUseMs + firstDelayMs
  let currentTick: Promise<void> = Promise.resolve()
  let timer = setTimeout(runTick, firstDelayMs)

  function runTick(): void {
    currentTick = tick().finally(() => {
      if (isStopped) return
      const now = performance.now()
      // Keeps the rhythm whatever a block takes; after a longer delay, skips the missed blocks.
      nextTickMs = Math.max(nextTickMs + blockIntervalMs, now)
      timer = setTimeout(runTick, nextTickMs - now)
    })
  }

  const logTradeFailure = (error: Error) => {
    if (!isFailing && !isStopped) log(`${chain.network}: the trader's transaction failed: ${error.message}`)
  }

  async function tick(): Promise<void> {
    if (isPaused) return
    try {
      const now = performance.now()
      if ((await chain.countPending()) > 0) lastUseMs = now
      if (now - lastUseMs > idleAfterMs && now - lastBlockMs < idleBlockIntervalMs) return
      // The trader's own transactions would keep an idle chain from ever being idle. Mine the block even if the trade
      // fails.
      if (now - lastUseMs <= idleAfterMs) await chain.trade?.().catch(logTradeFailure)
      await chain.mine(1)
      lastBlockMs = now
      isFailing = false
    } catch (error) {
      if (!isFailing && !isStopped) log(`${chain.network}: mining a block failed: ${(error as Error).message}`)
      isFailing = true
    }
  }

  const recordUse = () => {
    lastUseMs = performance.now()
  }

  return {
    async pause() {
      isPaused = true
      await currentTick
    },
    resume() {
      isPaused = false
      recordUse()
    },
    recordUse: recordUse,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await currentTick
    },
  }
}
