import { until as waitUntil } from '@swapyard/lib/until.ts'
import { PATIENCE_MS } from './patience.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of APIs and nodes without types
export type Json = any

/** Waits for a result, by default up to PATIENCE_MS. */
export const until = <T>(what: string, find: Parameters<typeof waitUntil<T>>[1], timeoutMs = PATIENCE_MS): Promise<T> =>
  waitUntil(what, find, { timeoutMs })
