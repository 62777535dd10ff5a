import type { Log } from '../lib/log.ts'
import { type Loop, startLoop } from '../lib/loop.ts'

/**
 * Repeats a turn; at once if it returns `again`. A failure is logged with this text, and slows the repetition down to once a
 * minute.
 */
export function repeat(log: Log, paceMs: number, failure: string, turn: () => Promise<unknown>, startMs = 0): Loop {
  return startLoop({
    ...{ paceMs, startMs },
    backoffMs: 60_000,
    turn: async () => ((await turn()) === 'again' ? 'again' : undefined),
    onError: (err) => log.warn({ err }, failure),
  })
}

/** Time over which the first turns of several loops are spread. */
const SPREAD_MS = 5_000

/** When the nth of so many loops begins, in ms. */
export const spread = (paceMs: number, n: number, count: number): number =>
  Math.floor((Math.min(paceMs, SPREAD_MS) * n) / count)

/**
 * One loop per network, so that one whose nodes or wallet do not answer delays no other. They start one after the other: at the same
 * moment, the turns of all networks would take the database's connections from the requests.
 */
export const repeatForEach = <T>(
  { log, networks }: Readonly<{ log: Log; networks: ReadonlyMap<string, T> }>,
  paceMs: number,
  failure: string,
  work: (item: T) => Promise<unknown>,
): Loop[] =>
  [...networks].map(([network, item], n) =>
    repeat(
      log,
      paceMs,
      failure,
      () => work(item).catch((err: unknown) => log.warn({ network, err }, failure)),
      spread(paceMs, n, networks.size),
    ),
  )
