import { until as look } from '@swapyard/lib/until.ts'
import { PATIENCE_MS } from './patience.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of APIs and nodes are read as a script would read them
export type Json = any

/** Waits as long as a busy machine may need. */
export const until = <T>(what: string, find: Parameters<typeof look<T>>[1], timeoutMs = PATIENCE_MS): Promise<T> =>
  look(what, find, { timeoutMs })
