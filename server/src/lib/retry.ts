import { setTimeout as wait } from 'node:timers/promises'

export type RetryOptions = Readonly<{
  /** Whether this failure may be followed by another attempt. Nothing is repeated that the caller did not call repeatable. */
  when: (error: unknown) => boolean
  /** Attempts in all. */
  attempts: number
  /** Doubled for each further attempt, up to `delayMaxMs`; each wait is a random share between its half and its whole. */
  delayMs: number
  delayMaxMs: number
  signal?: AbortSignal
}>

/** Runs `work` until it succeeds, fails in a way that no attempt mends, or the attempts are used up: then its last failure is thrown. */
export async function retry<T>(work: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt)
    } catch (error) {
      if (attempt >= options.attempts || !options.when(error)) throw error
      const delayMs = Math.min(options.delayMs * 2 ** (attempt - 1), options.delayMaxMs)
      await wait(delayMs * (0.5 + Math.random() / 2), undefined, options.signal ? { signal: options.signal } : {})
    }
  }
}
