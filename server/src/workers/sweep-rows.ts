import { type Loop, startLoop } from '../lib/loop.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store.ts'

export type SweepRows = Readonly<{ store: Store; chains: ReadonlyMap<string, Chain>; onError(error: unknown): void }>

const ROWS_MAX = 200
const SIGHTINGS_MAX = 100

/** Wakes every row whose time has come: what makes a lost wake-up harmless. Returns how many sightings it looked at. */
export function sweepRows({ store, chains, onError }: SweepRows): Loop {
  let turn = 0
  return startLoop({
    paceMs: 1_000,
    backoffMs: 15_000,
    turn: async () => {
      const due = await store.controls.due(ROWS_MAX)
      if (due.length > 0) await store.wake(due)
      if (turn++ % 5 === 0) await store.inventory.releaseExpired(ROWS_MAX)
      if (turn % 5 === 0) await checkSightings(store, chains)
      if (turn % 60 === 0) await store.controls.forget()
      return due.length >= ROWS_MAX ? 'again' : undefined
    },
    onError,
  })
}

/** A sighting that no node knows any more is no deposit on its way: replaced, evicted, or never real. */
async function checkSightings(store: Store, chains: ReadonlyMap<string, Chain>): Promise<void> {
  for (const { network, txHash } of await store.chainLog.sightings(SIGHTINGS_MAX)) {
    const chain = chains.get(network)
    if (!chain) continue
    const { kind } = await chain.sender.observe({ txHash, conflictKey: '' })
    // Included: the watcher records it, and ends the sighting with it.
    await store.chainLog.lookedAt(network, txHash, kind === 'unseen' || kind === 'dead')
  }
}
