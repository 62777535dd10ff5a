import { invalidatedEntry } from '../../core/domain/ledger/entries.ts'
import type { Log } from '../../lib/log.ts'
import type { Signer } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { OutgoingTransaction } from '../ports/store/transactions.ts'
import { exchangeJobs, paysOrder, transactionAlarms } from './payment.ts'

type RequeueDeps = Readonly<{ store: Store; signer: Signer; log: Log }>

type Requeue = Readonly<{
  proof: Record<string, unknown>
  /** Reason to hold the payouts for the operator; null = back to the queue. */
  attention: string | null
  /** Postings beside those of the payouts, in the same transaction. */
  postAlso?(tx: StoreTx): Promise<unknown>
  /** We cancelled it ourselves (I-38), so it needs no alarm. */
  isCancelled?: boolean
}>

/** Invalidates an unconfirmed transaction that is proved unable to pay, and requeues its payouts (I-13). */
export async function requeuePayouts(
  { store, signer, log }: RequeueDeps,
  transaction: OutgoingTransaction,
  { proof, attention, postAlso, isCancelled = false }: Requeue,
): Promise<void> {
  const { id: transactionId, network } = transaction
  const requeued = await store.transaction(async (tx) => {
    const current = await tx.transactions.load(transactionId)
    // The proof covers the attempts that were observed, not one that was added since.
    if (current?.state !== 'live' || current.attempts.length !== transaction.attempts.length) return null
    const payouts = await tx.payouts.listByTransaction(transactionId)
    // The signer first: it signs these payouts again only with the proof, and a repeat after a rollback is harmless. Under
    // the lock, so that a late worker cannot invalidate the transaction that replaced this one.
    await signer.recordInvalidation(
      payouts.map(({ id }) => id),
      proof,
    )
    await tx.transactions.settle(transactionId, { kind: 'invalidated', proof })
    await tx.payouts.requeue(transactionId, attention)
    await tx.outflow.release(payouts.map(({ id }) => id))
    for (const payout of payouts) await requeuePayout(tx, transactionId, payout, attention)
    await postAlso?.(tx)
    await tx.alarms.clear(...transactionAlarms(transactionId))
    if (!isCancelled)
      await tx.alarms.raise(`invalid:${transactionId}`, 'a signed transaction is invalid', {
        network,
        transactionId,
        attention,
      })
    await tx.wake([{ kind: 'dispatch', id: network }, ...exchangeJobs(payouts)])
    return payouts
  })
  if (requeued === null) return
  const payoutIds = requeued.map(({ id }) => id)
  log.warn(
    { network, transactionId, payoutIds, attention, isCancelled },
    attention === null
      ? 'transaction invalidated: its payouts are queued again'
      : 'transaction invalidated: its payouts are held for the operator',
  )
}

async function requeuePayout(
  tx: StoreTx,
  transactionId: string,
  payout: Payout,
  attention: string | null,
): Promise<void> {
  const { id, orderId, exchangeId, assetId, units, purpose } = payout
  await tx.ledger.post(invalidatedEntry({ ...payout, payoutId: id, transactionId }))
  // The units are back in the wallet and are reserved for the order again.
  if (orderId !== null && exchangeId !== null && paysOrder(payout))
    await tx.inventory.reserve(orderId, assetId, units, exchangeId, null)
  // A payout without an open execution needs an alarm of its own, because no held execution shows it.
  if (attention !== null && (exchangeId === null || payout.isReversed))
    await tx.alarms.raise(`payout:${id}`, 'a payout of ours failed on its chain', {
      code: attention,
      purpose,
      transactionId,
    })
}
