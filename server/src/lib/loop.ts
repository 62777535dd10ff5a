import { setTimeout as delay } from 'node:timers/promises'

export type Loop = Readonly<{ stop(): Promise<void> }>

export type LoopOptions = Readonly<{
  /** Pause between the end of one turn and the start of the next. A turn may ask for the next at once by `again`. */
  paceMs: number
  /** Failures in a row double the pause up to this. */
  backoffMs: number
  turn(): Promise<'again' | undefined>
  onError(error: unknown): void
}>

/** A loop that owns its pace: turns never overlap, failures slow it down, `stop` waits for the turn under way. */
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
