/** Longer timers fire at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1

/** Resolves after the delay. Rejects with the reason of the signal. */
export function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      },
      Math.min(delayMs, TIMER_MAX_MS),
    )
    signal?.addEventListener('abort', stop, { once: true })
  })
}
