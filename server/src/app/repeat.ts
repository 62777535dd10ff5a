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

/** One loop per chain, so that a chain whose nodes or wallet do not answer delays no other. */
export function repeatForEach<C extends Readonly<{ network: Readonly<{ id: string }> }>>(
  { log, chains }: Readonly<{ log: Log; chains: readonly C[] }>,
  paceMs: number,
  failure: string,
  work: (chain: C) => Promise<void>,
): Loop[] {
  return chains.map((chain) =>
    repeat(log, paceMs, failure, () =>
      work(chain).catch((err: unknown) => log.warn({ network: chain.network.id, err }, failure)),
    ),
  )
}
