import type { LocalChain } from './local-chain.ts'
import { log } from './log.ts'

export type IntervalMiner = Readonly<{
  /** Resolves when no block is on its way any more. */
  pause(): Promise<void>
  resume(): void
  /** Somebody uses the chain. */
  recordUse(): void
  stop(): Promise<void>
}>

const blockIntervalMs = 1000
/** A sandbox that is left running overnight doesn't fill its memory with empty blocks. */
const defaultIdleAfterMs = 10 * 60_000
const idleBlockIntervalMs = 15_000

/**
 * A block every second, as real chains don't wait for us either. Where nothing was paid or asked for ten minutes, only
 * every fifteen, until a transaction comes: that is mined within the second.
 */
export function startIntervalMiner(chain: LocalChain, offsetMs: number): IntervalMiner {
  const idleAfterMs = chain.idleAfterMs ?? defaultIdleAfterMs
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
      // On the second, whatever a block takes; after a longer stop from now on, without catching up.
      nextTickMs = Math.max(nextTickMs + blockIntervalMs, now)
      timer = setTimeout(runTick, nextTickMs - now)
    })
  }

  const logTradeFailure = (error: Error) => {
    if (!isFailing && !isStopped) log(`${chain.network}: no trade: ${error.message}`)
  }

  async function tick(): Promise<void> {
    if (isPaused) return
    try {
      const now = performance.now()
      if ((await chain.countPending()) > 0) lastUseMs = now
      if (now - lastUseMs > idleAfterMs && now - lastBlockMs < idleBlockIntervalMs) return
      // Not on a chain that nobody uses: it would never be quiet. And without its trade a block is still a block.
      if (now - lastUseMs <= idleAfterMs) await chain.trade?.().catch(logTradeFailure)
      await chain.mine(1)
      lastBlockMs = now
      isFailing = false
    } catch (error) {
      if (!isFailing && !isStopped) log(`${chain.network}: no block: ${(error as Error).message}`)
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
