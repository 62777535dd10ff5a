import { setTimeout as delay } from 'node:timers/promises'

export type Loop = Readonly<{ stop(): Promise<void> }>
/** `wake` ends the pause, or the one after the current turn. A pause after a failure is kept. */
export type WakeableLoop = Loop & Readonly<{ wake(): void }>

export type LoopOptions = Readonly<{
  /** Pause between two turns, in ms. A turn that returns `again` is followed by the next one at once, one with a number after so many ms. */
  paceMs: number
  /** Pause before the first turn, in ms. Default 0. */
  startMs?: number
  /** Consecutive failures double the pause up to this, in ms. */
  backoffMs: number
  turn(): Promise<'again' | number | undefined>
  onError(error: unknown): void
}>

/** One loop that stops several. */
export const joinLoops = (...loops: readonly Loop[]): Loop => ({
  stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
})

/** Repeats a turn: turns never overlap, failures slow the loop down, `stop` waits for the current turn. */
export function startLoop({ paceMs, startMs = 0, backoffMs, turn, onError }: LoopOptions): WakeableLoop {
  let isStopped = false
  let isWoken = false
  let pause: AbortController | null = null
  let failures = 0
  const rest = async (ms: number): Promise<void> => {
    pause = new AbortController()
    await delay(ms, undefined, { signal: pause.signal }).catch(() => undefined)
    pause = null
  }
  const done = (async () => {
    if (startMs > 0) await rest(startMs)
    while (!isStopped) {
      isWoken = false
      let pauseMs = paceMs
      try {
        const next = await turn()
        if (next === 'again' || isWoken) pauseMs = 0
        else pauseMs = next ?? paceMs
        failures = 0
      } catch (error) {
        failures++
        onError(error)
        pauseMs = Math.min(paceMs * 2 ** Math.min(failures, 16), backoffMs)
      }
      if (isStopped) break
      await rest(pauseMs)
    }
  })()
  return {
    wake: () => {
      isWoken = true
      if (failures === 0) pause?.abort()
    },
    stop: async () => {
      isStopped = true
      pause?.abort()
      await done
    },
  }
}
