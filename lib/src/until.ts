import { setTimeout as delay } from 'node:timers/promises'
import { PATIENCE_MS } from './patience.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of APIs and nodes are read as a script would read them
export type Json = any

/** Looks until it finds something, or throws when the time is over. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await delay(100)
  }
}
