import { setTimeout as delay } from 'node:timers/promises'

export type UntilOptions = Readonly<{
  timeoutMs: number
  /** Pause between two looks. */
  intervalMs?: number
  /** Added to the error message. */
  explain?: () => string | Promise<string>
}>

/** Calls `look` until it returns a truthy value. Throws after `timeoutMs`; an error of `look` passes through at once. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { timeoutMs, intervalMs = 100, explain }: UntilOptions,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const result = await look()
    if (result) return result
    if (performance.now() > deadline) {
      const reason = explain === undefined ? '' : `; ${await explain()}`
      throw new Error(`not within ${timeoutMs} ms: ${what}${reason}`)
    }
    await delay(intervalMs)
  }
}
