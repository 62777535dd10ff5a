import { setTimeout as delay } from 'node:timers/promises'

export type Loop = Readonly<{ stop(): Promise<void> }>

export type LoopOptions = Readonly<{
  /** Pause between two turns, in ms. A turn that returns `again` is followed by the next one at once. */
  paceMs: number
  /** Consecutive failures double the pause up to this, in ms. */
  backoffMs: number
  turn(): Promise<'again' | undefined>
  onError(error: unknown): void
}>

/** Repeats a turn: turns never overlap, failures slow the loop down, `stop` waits for the current turn. */
export function startLoop({ paceMs, backoffMs, turn, onError }: LoopOptions): Loop {
  const stopping = new AbortController()
  let failures = 0
  const done = (async () => {
    while (!stopping.signal.aborted) {
      let pauseMs = paceMs
      try {
        if ((await turn()) === 'again') pauseMs = 0
        failures = 0
      } catch (error) {
        failures++
        onError(error)
        pauseMs = Math.min(paceMs * 2 ** Math.min(failures, 16), backoffMs)
      }
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  })()
  return {
    stop: async () => {
      stopping.abort()
      await done
    },
  }
}
