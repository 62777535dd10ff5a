import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import { inputsOf, type Signer } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'
import { requeuePayouts } from './requeue-payouts.ts'

type QuarantineDeps = Readonly<{ store: Store; signer: Signer; log: Log }>

/**
 * The reason why no block can ever include the transaction, by all nodes of this worker: one of its inputs needs a signature that we
 * do not make (M8). Only for a first attempt: an earlier one may be at a node. Null = no proof.
 */
export async function findScriptFailure(chain: Chain, { attempts }: OutgoingTransaction): Promise<string | null> {
  const [only] = attempts
  if (only === undefined || attempts.length !== 1) return null
  const reason = (await chain.sender.findScriptFailure?.(only.raw)) ?? null
  if (reason === null) return null
  // A crash may have followed its release: then a node that has it contradicts the others.
  const observation = await chain.sender.observe({ txHash: only.txHash, conflictKey: null })
  return observation.kind === 'unseen' ? reason : null
}

/**
 * Expires a signed transaction that no block can ever include, before its broadcast. The nodes do not say which input is the
 * cause, so all are quarantined, and the payouts are signed with others. False if the transaction can be broadcast.
 */
export async function quarantineInputs(
  deps: QuarantineDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  { txHash, intent }: Attempt,
): Promise<boolean> {
  if (transaction.state !== 'live') return false
  const reason = await findScriptFailure(chain, transaction)
  if (reason === null) return false
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
