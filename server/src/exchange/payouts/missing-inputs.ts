import { assert } from '../../lib/assert.ts'
import type { Chain } from '../ports/chain.ts'
import type { SignIntent } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'

/**
 * Coins that a transaction of ours spends and that left the chain with nobody spending them elsewhere: no proof of death
 * comes of it, for whoever has their transaction's bytes can bring them back. `NO_COMMON_COIN`: one of them is the coin by
 * which all attempts exclude each other, so that nothing may be signed without it. `NO_REPLACEMENT`: the network takes none.
 */
export type Gone = Readonly<{
  kind: 'REPLACEABLE' | 'NO_COMMON_COIN' | 'NO_REPLACEMENT'
  outpoints: readonly string[]
  since: number
}>

/** Null while it is no matter: none is gone, not for as long as anything is waited for, or a node has one still. */
export async function findGone(
  { store }: Readonly<{ store: Store }>,
  chain: Chain,
  { network, state, conflictKey, head }: OutgoingTransaction,
  { intent }: Attempt,
): Promise<Gone | null> {
  if (state !== 'live' || intent.family !== 'bitcoin' || head === null) return null
  const coins = await store.recovery.findMissingOutputs(
    network,
    intent.inputs.map(({ outpoint }) => outpoint),
  )
  // As deep as the proof of a death lies: what a reorganisation took along has come back long before.
  const ripe = coins.filter(({ missingSince: goneAt }) => head - goneAt >= chain.network.finalityBlocks)
  const gone: string[] = []
  for (const { outpoint } of ripe) {
    const txHash = outpoint.split(':')[0] ?? ''
    // Neither in the chain nor in the pool of any node.
    if ((await chain.sender.observe({ txHash, conflictKey: null })).kind === 'unseen') gone.push(outpoint)
  }
  if (gone.length === 0) return null
  return {
    kind: gone.includes(conflictKey)
      ? 'NO_COMMON_COIN'
      : chain.network.bitcoin?.replaceable === false
        ? 'NO_REPLACEMENT'
        : 'REPLACEABLE',
    outpoints: gone,
    since: Math.max(...ripe.map(({ missingSince: goneAt }) => goneAt)),
  }
}

/** The intent without the coins that are gone; null where it would not exclude what it replaces. */
export function without(intent: SignIntent, { kind, outpoints }: Gone): SignIntent | null {
  if (kind !== 'REPLACEABLE' || intent.family !== 'bitcoin') return null
  const inputs = intent.inputs.filter(({ outpoint }) => !outpoints.includes(outpoint))
  assert(inputs.length > 0, 'the common coin is left')
  return { ...intent, inputs }
}

/** It waits, and a person can see for what. */
export async function tellGone(
  { store }: Readonly<{ store: Store }>,
  { id, network }: OutgoingTransaction,
  { kind, outpoints, since }: Gone,
  code: string,
): Promise<void> {
  await store.alarms.raise(`coins:${id}`, 'coins that a payment spends have left the chain, and nobody spent them', {
    network,
    code,
    outpoints,
    since,
    next: kind !== 'REPLACEABLE' ? `swapyard payouts bring-back ${id} --raw <hex>` : null,
  })
}
