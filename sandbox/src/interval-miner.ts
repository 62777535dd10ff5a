import type { LocalChain } from './local-chain.ts'
import { say } from './log.ts'

export type BlockClock = Readonly<{
  /** Resolves when no block is on its way any more. */
  pause(): Promise<void>
  resume(): void
  /** Somebody uses the chain. */
  touch(): void
  stop(): Promise<void>
}>

const blockMs = 1000
/** A sandbox that is left running overnight doesn't fill its memory with empty blocks. */
const quietAfterMs = 10 * 60_000
const quietBlockMs = 15_000

/**
 * A block every second, as real chains don't wait for us either. Where nothing was paid or asked for ten minutes, only
 * every fifteen, until a transaction comes: that is mined within the second.
 */
export function startBlockClock(chain: LocalChain, offsetMs: number): BlockClock {
  const quietMs = chain.quietAfterMs ?? quietAfterMs
  let paused = false
  let stopped = false
  let failing = false
  let lastUse = performance.now()
  let lastBlock = lastUse
  const firstMs = offsetMs + (chain.firstBlockAfterMs ?? 0)
  let due = lastUse + firstMs
  let running: Promise<void> = Promise.resolve()
  let timer = setTimeout(run, firstMs)

  function run(): void {
    running = tick().finally(() => {
      if (stopped) return
      const now = performance.now()
      // On the second, whatever a block takes; after a longer stop from now on, without catching up.
      due = Math.max(due + blockMs, now)
      timer = setTimeout(run, due - now)
    })
  }

  const sayOnce = (error: Error) => {
    if (!failing && !stopped) say(`${chain.network}: no trade: ${error.message}`)
  }

  async function tick(): Promise<void> {
    if (paused) return
    try {
      const now = performance.now()
      if ((await chain.waiting()) > 0) lastUse = now
      if (now - lastUse > quietMs && now - lastBlock < quietBlockMs) return
      // Not on a chain that nobody uses: it would never be quiet. And without its trade a block is still a block.
      if (now - lastUse <= quietMs) await chain.trade?.().catch(sayOnce)
      await chain.mine(1)
      lastBlock = now
      failing = false
    } catch (error) {
      if (!failing && !stopped) say(`${chain.network}: no block: ${(error as Error).message}`)
      failing = true
    }
  }

  const touch = () => {
    lastUse = performance.now()
  }

  return {
    async pause() {
      paused = true
      await running
    },
    resume() {
      paused = false
      touch()
    },
    touch,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
