import { type Loop, startLoop } from '../../lib/loop.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'

export type PollDueRows = Readonly<{ store: Store; chains: ReadonlyMap<string, Chain>; onError(error: unknown): void }>

const ROWS_MAX = 200
const SIGHTINGS_MAX = 100

/** Wakes every row whose time has come: what makes a lost wake-up harmless. Returns how many sightings it looked at. */
export function pollDueRows({ store, chains, onError }: PollDueRows): Loop {
  let turn = 0
  return startLoop({
    paceMs: 1_000,
    backoffMs: 15_000,
    turn: async () => {
      const due = await store.jobs.leaseDue(ROWS_MAX)
      if (due.length > 0) await store.wake(due)
      if (turn++ % 5 === 0) await store.inventory.releaseExpired(ROWS_MAX)
      if (turn % 5 === 0) await checkSightings({ store, chains, onError })
      if (turn % 60 === 0) await store.jobs.deleteExpired()
      return due.length >= ROWS_MAX ? 'again' : undefined
    },
    onError,
  })
}

/** A sighting that no node knows any more is no deposit on its way: replaced, evicted, or never real. */
async function checkSightings({ store, chains, onError }: PollDueRows): Promise<void> {
  for (const { network, txHash } of await store.chainLog.listSightings(SIGHTINGS_MAX)) {
    const chain = chains.get(network)
    if (!chain) continue
    // A network that does not answer must not keep the others, nor the rows, waiting.
    const gone = await hasGone(store, chain, txHash).catch((error: unknown) => {
      onError(error)
      return false
    })
    await store.chainLog.recordLookup(network, txHash, gone)
  }
}

async function hasGone(store: Store, chain: Chain, txHash: string): Promise<boolean> {
  const seen = await chain.sender.observe({ txHash, conflictKey: null })
  if (seen.kind !== 'included') return seen.kind === 'unseen' || seen.kind === 'invalidated'
  // The watcher records what a block brings, and ends the sighting with it. Where it has passed, nothing arrived.
  const cursor = await store.chainLog.cursor(chain.network.id)
  return cursor !== null && cursor.height >= seen.block.height
}
