import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import { inputsOf, type Signer } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'
import { requeuePayouts } from './requeue-payouts.ts'

type QuarantineDeps = Readonly<{ store: Store; signer: Signer; log: Log }>

/**
 * Expires a signed transaction that no block can ever include, before it is released: one of its inputs needs a signature
 * that we do not make (M8). The nodes do not say which, so all are quarantined, and the payouts are signed with others. Only
 * for a first attempt: an earlier one may be at a node. False if the transaction can be released.
 */
export async function quarantineInputs(
  deps: QuarantineDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  { txHash, raw, intent }: Attempt,
): Promise<boolean> {
  if (transaction.attempts.length !== 1 || transaction.state !== 'live') return false
  const reason = (await chain.sender.findScriptFailure?.(raw)) ?? null
  // A crash may have followed its release: then a node that has it contradicts the others.
  if (reason === null || (await chain.sender.observe({ txHash, conflictKey: null })).kind !== 'unseen') return false
  const { id, network } = transaction
  const outpoints = inputsOf(intent).map(({ outpoint }) => outpoint)
  await requeuePayouts(deps, transaction, {
    proof: { scriptFailed: reason, txHash },
    attention: null,
    postAlso: async (tx) => {
      await tx.transactions.quarantine(network, outpoints)
      await tx.alarms.raise(`quarantine:${id}`, 'a signed transaction has an invalid script: its inputs are not used', {
        network,
        transactionId: id,
        txHash,
        reason,
        outpoints,
        next: `swapyard payouts release-input ${network} <outpoint>`,
      })
    },
  })
  return true
}
