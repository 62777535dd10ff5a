import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { AlreadyReleasedError, Signer } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'
import { isInvalidated } from './observe-attempts.ts'
import { findScriptFailure } from './quarantine-inputs.ts'

type LearnDeps = Readonly<{ store: Store; signer: Signer; log: Log }>

/**
 * This worker's signer refuses a payout because it released the payout in an earlier transaction. If the database has a proof
 * that the earlier transaction can never pay, another worker found it. Then this worker repeats the proof with its own nodes and
 * records it in its journal (M14). False without a proof: the database may be older than the journal.
 */
export async function learnInvalidation(
  { store, signer, log }: LearnDeps,
  chain: Chain,
  { payoutId, txHashes, isSamePayment }: AlreadyReleasedError,
): Promise<boolean> {
  // No proof permits another destination or amount.
  if (!isSamePayment) return false
  const invalidated = await store.transactions.findInvalidated(chain.network.id, txHashes)
  if (invalidated === null) return false
  const { transaction, proof, conflictingTxHash } = invalidated
  // An attempt that the database lost may have paid: then it, and no stranger, used the nonce or the output.
  const known = new Set(transaction.attempts.map(({ txHash }) => txHash))
  if (!txHashes.every((txHash) => known.has(txHash))) return false
  if (conflictingTxHash !== null && txHashes.includes(conflictingTxHash)) return false
  // Where its inputs were quarantined, no transaction conflicts with it.
  const isProved =
    (proof['scriptFailed'] !== undefined && (await findScriptFailure(chain, transaction)) !== null) ||
    (await isInvalidated(store, chain, transaction, conflictingTxHash))
  if (!isProved) return false
  await signer.recordInvalidation([payoutId], proof)
  log.warn(
    { network: chain.network.id, payoutId, transactionId: transaction.id },
    'a proof that another worker found was repeated and recorded: the payout can be signed again',
  )
  return true
}
