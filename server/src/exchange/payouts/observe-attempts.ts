import type { BlockRef } from '../../core/ports/chain.ts'
import type { Chain, Observation } from '../ports/chain.ts'
import { isCancel } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'

export type ObservedAttempt = Readonly<{ attempt: Attempt; observation: Observation }>

/** The state of every attempt on all nodes. */
export async function observeAttempts(
  store: Store,
  chain: Chain,
  { network, conflictKey, conflictingTxHash, attempts }: OutgoingTransaction,
): Promise<readonly ObservedAttempt[]> {
  const observed: ObservedAttempt[] = []
  for (const attempt of attempts) {
    const { txHash, raw, intent } = attempt
    const outpoints = intent.family === 'bitcoin' ? intent.inputs.map(({ outpoint }) => outpoint) : []
    const ancestorSpends = outpoints.length === 0 ? [] : await store.recovery.findAncestorSpends(network, outpoints)
    const observation = await chain.sender.observe({ txHash, conflictKey, raw, ancestorSpends, conflictingTxHash })
    observed.push({ attempt, observation })
  }
  return observed
}

/**
 * Whether the block is final at this head: by depth, by the chain's finality tag where the network names one, and on every
 * node. False while a node does not report the tag.
 */
export async function isFinal({ network, reader }: Chain, block: BlockRef, headHeight: number): Promise<boolean> {
  if (headHeight - block.height + 1 < network.finalityBlocks) return false
  const tag = network.evm?.finalityTag ?? null
  if (tag !== null && ((await reader.tagHeight(tag)) ?? -1) < block.height) return false
  return reader.agrees(block)
}

/**
 * Whether the nodes prove that the transaction can never pay: every attempt has a conflict proof, or one of them failed in a
 * block that is final. `conflictingTxHash` says where to look.
 */
export async function isInvalidated(
  store: Store,
  chain: Chain,
  transaction: OutgoingTransaction,
  conflictingTxHash: string | null,
): Promise<boolean> {
  const hint = conflictingTxHash ?? transaction.conflictingTxHash
  // A cancel pays nothing, so what matters is that none of the others can be mined.
  const attempts = transaction.attempts.filter(({ intent }) => !isCancel(intent))
  const observed = await observeAttempts(store, chain, { ...transaction, attempts, conflictingTxHash: hint })
  if (observed.length > 0 && observed.every(({ observation }) => observation.kind === 'invalidated')) return true
  const { height } = await chain.reader.head()
  for (const { observation } of observed) {
    if (observation.kind !== 'included') continue
    const { block, ok } = observation
    return !ok && (await isFinal(chain, block, height))
  }
  return false
}
