import { present } from '../../lib/assert.ts'
import { timeOrderedId } from '../../lib/id.ts'
import { bookSigned } from '../payouts/dispatch-payouts.ts'
import { exchangeJobs } from '../payouts/payment.ts'
import { inputsOf } from '../ports/signer.ts'
import type { ImportableTransaction } from '../ports/store/signing-journal.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import { findMismatch } from './find-mismatch.ts'
import { restoreOwnPayout } from './restore-own-payouts.ts'

export type RestoreOutcome = Readonly<{
  network: string
  txHash: string
  outcome: 'imported' | 'waits'
  why: string | null
}>

/**
 * Imports transactions that the signer released and the restored database lacks, as if they had been signed now: their payouts
 * are signed, their nonces and inputs used, and the watcher finds their outcome. Imports only payouts that the database has
 * queued again with the same terms, sweeps and gas supplies of account families, and splits and merges. While payouts are paused,
 * the steps queue payouts once the deposits are recorded again.
 */
export async function restoreSignedPayouts(store: Store, pageSize = 1_000): Promise<readonly RestoreOutcome[]> {
  const outcomes: RestoreOutcome[] = []
  const list = (after: ImportableTransaction | null) => store.signingJournal.listImportable(after, pageSize)
  for (let page = await list(null); page.length > 0; page = await list(page.at(-1) ?? null)) {
    for (const transaction of page) {
      const { network, txHash } = transaction
      const why = await store.transaction((tx) => importOne(tx, transaction))
      outcomes.push({ network, txHash, outcome: why === null ? 'imported' : 'waits', why })
    }
  }
  return outcomes
}

/** Null = imported; else the reason why not. */
async function importOne(tx: StoreTx, transaction: ImportableTransaction): Promise<string | null> {
  const { network, txHash, conflictKey, releases, wallet, from, intent } = transaction
  // A second release of a payout needs a conflict proof of the first, so only the latest one can pay.
  const isLeft = await tx.signingJournal.isSuperseded(transaction)
  // The cancelled nonce cost a fee, which the ledger needs; the payouts belong to the later transaction.
  if (isLeft && !(await tx.signingJournal.isCancelled(transaction)))
    return 'the signer released a later transaction of its payouts'
  await tx.transactions.lockLane(network, wallet, 0)
  const existingId = await tx.signingJournal.findByConflictKey(network, conflictKey)
  const obstacle = existingId === null && !isLeft ? await restoreOwnPayout(tx, transaction) : null
  if (obstacle !== null) return obstacle
  const payouts = await tx.payouts.find(releases.map(({ payoutId }) => payoutId))
  const id = existingId ?? timeOrderedId()
  const outpoints = inputsOf(intent).map(({ outpoint }) => outpoint)
  const resources = outpoints.length > 0 ? outpoints : [conflictKey]
  if (existingId === null) {
    const mismatch = isLeft ? null : findMismatch(releases, payouts)
    if (mismatch !== null) return mismatch
    await tx.transactions.insert({
      id,
      network,
      from,
      wallet,
      conflictKey,
      resources,
      nonce: intent.family === 'evm' ? intent.nonce : null,
    })
  } else if (!(await isAttemptOf(tx, existingId, { releases, isLeft }))) {
    return 'another transaction uses its nonce or its inputs'
  }
  await tx.transactions.addAttempt(id, { ...transaction, outpoints })
  if (existingId === null && !isLeft) await bookSigned(tx, id, payouts)
  if (isLeft) await markSent(tx, id)
  await tx.signingJournal.markImported(network, txHash)
  await tx.wake([{ kind: 'transaction', id }, ...exchangeJobs(payouts)])
  return null
}

/**
 * Whether a transaction of the database pays these payouts. Another one may use the same nonce or output since the restore: as an
 * attempt of it, the released transaction would settle payouts that it does not pay. One that was left pays some of them, or none.
 */
async function isAttemptOf(
  { payouts }: StoreTx,
  transactionId: string,
  { releases, isLeft }: Pick<ImportableTransaction, 'releases'> & Readonly<{ isLeft: boolean }>,
): Promise<boolean> {
  const released = new Set(releases.map(({ payoutId }) => payoutId))
  const own = await payouts.listByTransaction(transactionId)
  return own.every(({ id }) => released.has(id)) && (isLeft || own.length === released.size)
}

/** It is on the chain: it must be observed and not released once more, which the signer would refuse. */
async function markSent(tx: StoreTx, id: string): Promise<void> {
  const transaction = present(await tx.transactions.load(id), 'the imported transaction')
  const sentAttemptId = present(transaction.attempts.at(-1), 'an imported attempt').id
  await tx.transactions.settle(id, { kind: 'check', at: transaction.now, sentAttemptId })
}
