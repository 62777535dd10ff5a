import type { Log } from '../lib/log.ts'
import { type Loop, startLoop } from '../lib/loop.ts'

/**
 * Repeats a turn; at once if it returns `again`. A failure is logged with this text, and slows the repetition down to once a
 * minute.
 */
export function repeat(log: Log, paceMs: number, failure: string, turn: () => Promise<unknown>): Loop {
  return startLoop({
    paceMs,
    backoffMs: 60_000,
    turn: async () => ((await turn()) === 'again' ? 'again' : undefined),
    onError: (err) => log.warn({ err }, failure),
  })
}
