import { type Loop, startLoop } from '../../lib/loop.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'

export type PollDueRows = Readonly<{ store: Store; chains: ReadonlyMap<string, Chain>; onError(error: unknown): void }>

const ROWS_MAX = 200
const SIGHTINGS_MAX = 100

/**
 * Wakes every row that is due, so that a lost wake-up only delays it. Also releases expired reservations and looks up
 * sightings.
 */
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

/** Removes sightings that no node knows any more: replaced, evicted, or fake. */
async function checkSightings({ store, chains, onError }: PollDueRows): Promise<void> {
  for (const { network, txHash } of await store.chainLog.listSightings(SIGHTINGS_MAX)) {
    const chain = chains.get(network)
    if (!chain) continue
    // A network that does not answer must not delay the others or the rows.
    const isMissing = await isSightingMissing(store, chain, txHash).catch((error: unknown) => {
      onError(error)
      return false
    })
    await store.chainLog.recordLookup(network, txHash, isMissing)
  }
}

async function isSightingMissing(store: Store, chain: Chain, txHash: string): Promise<boolean> {
  const observation = await chain.sender.observe({ txHash, conflictKey: null })
  if (observation.kind !== 'included') return observation.kind === 'unseen' || observation.kind === 'invalidated'
  // Recording a block ends its sightings. If the watcher is past this block, the transaction paid nothing to us.
  const cursor = await store.chainLog.cursor(chain.network.id)
  return cursor !== null && cursor.height >= observation.block.height
}
