import type { LocalChain } from './local-chain.ts'
import { say } from './say.ts'

export type BlockClock = Readonly<{ pause(): void; resume(): void; stop(): Promise<void> }>

const blockMs = 1000
/** A sandbox left running overnight doesn't fill its memory with empty blocks. */
const quietAfterMs = 30 * 60_000
const quietBlockMs = 15_000

/** A block every second, as real chains don't wait for us either. Slower once nothing was paid for half an hour. */
export function startBlockClock(chain: LocalChain, offsetMs: number): BlockClock {
  let paused = false
  let stopped = false
  let failing = false
  let lastUse = performance.now()
  let due = performance.now() + offsetMs
  let running: Promise<void> = Promise.resolve()
  let timer = setTimeout(run, offsetMs)

  function run(): void {
    running = tick().finally(() => {
      if (!stopped) timer = setTimeout(run, next())
    })
  }

  async function tick(): Promise<void> {
    if (paused) return
    try {
      if ((await chain.tick()) > 0) lastUse = performance.now()
      failing = false
    } catch (error) {
      if (!failing && !stopped) say(`${chain.network}: no block: ${(error as Error).message}`)
      failing = true
    }
  }

  /** On the second, whatever a block takes; after a longer stop from now on, without catching up. */
  function next(): number {
    const now = performance.now()
    const step = now - lastUse > quietAfterMs ? quietBlockMs : blockMs
    due = Math.max(due + step, now)
    return due - now
  }

  return {
    pause() {
      paused = true
    },
    resume() {
      paused = false
      lastUse = performance.now()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
