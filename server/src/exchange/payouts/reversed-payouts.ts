import { nativeId } from '../../core/domain/asset.ts'
import { accounts, networkFeeId, payoutReversalEntry, revertedFeeEntry } from '../../core/domain/ledger/entries.ts'
import { reversalOf } from '../../core/domain/ledger/journal.ts'
import { isToOurselves } from '../../core/domain/payout-purpose.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Signer } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'
import { exchangeJobs, paysOrder, transactionAlarms } from './payment.ts'

type ReverseDeps = Readonly<{ store: Store; signer: Signer; log: Log }>

/** Shows partner and operator that a confirmed transaction is in no block any more. Its bytes are rebroadcast elsewhere. */
export async function recordOrphaned(
  { store, log }: ReverseDeps,
  { id, network, attempts }: OutgoingTransaction,
): Promise<void> {
  const isNew = await store.transaction(async (tx) => {
    await tx.reversedPayouts.lockExchanges(id, 'all')
    if ((await tx.transactions.load(id))?.state !== 'confirmed') return false
    await tx.alarms.raise(
      `orphaned:${id}`,
      'a confirmed transaction of ours left the chain; its bytes are rebroadcast',
      { network, transactionId: id, txHash: attempts.find(({ state }) => state === 'confirmed')?.txHash ?? null },
    )
    return tx.reversedPayouts.recordOrphaned(id)
  })
  if (isNew) log.warn({ network, transactionId: id }, 'confirmed transaction left the chain')
}

/**
 * Clears what `recordOrphaned` showed, once the transaction has its confirmations again. If another of its attempts is mined now,
 * that one is the confirmed one, and its hash is shown.
 */
export async function recordReincluded(
  { store, log }: ReverseDeps,
  { id, network }: OutgoingTransaction,
  { id: attemptId, txHash, state }: Attempt,
): Promise<void> {
  await store.alarms.clear(`orphaned:${id}`, `unmined:${id}`)
  const isOther = state !== 'confirmed'
  if (!isOther && !(await store.reversedPayouts.isReportedOrphaned(id))) return
  await store.transaction(async (tx) => {
    await tx.reversedPayouts.lockExchanges(id, isOther ? 'all' : 'orphaned')
    const current = await tx.transactions.load(id)
    if (current?.state !== 'confirmed') return
    if (isOther) await tx.transactions.settle(id, { kind: 'confirmed', attemptId, checkAt: current.now })
    await tx.reversedPayouts.restore(id, txHash)
    // Open exchanges show the hash of the confirmed attempt, and a next leg waits for it.
    if (isOther) await tx.wake(exchangeJobs(await tx.payouts.listByTransaction(id)))
  })
  log.info({ network, transactionId: id, txHash }, 'confirmed transaction is in a block again')
}

/** `revertedFeeUnits`: fee of a transaction that was mined again and failed; null = it can never be mined. */
type Invalidation = Readonly<{ proof: Record<string, unknown>; revertedFeeUnits: bigint | null }>

/**
 * Reverses a confirmed transaction that is proved invalid (I-13). Posts payment and fee in reverse and holds the payouts for
 * the operator, who knows whether they were paid in another way. What we pay to ourselves is voided and planned again.
 */
export async function reverseConfirmed(
  deps: ReverseDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  { proof, revertedFeeUnits }: Invalidation,
): Promise<void> {
  const { id, network } = transaction
  const isReversed = await deps.store.transaction(async (tx) => {
    await tx.reversedPayouts.lockExchanges(id, 'all')
    const current = await tx.transactions.load(id)
    if (current?.state !== 'confirmed' || current.attempts.length !== transaction.attempts.length) return false
    const payouts = await tx.payouts.listByTransaction(id)
    if (!(await isSweepCovered(tx, id, payouts))) return false
    // The signer first: it signs these payouts again only with the proof, and a repeat after a rollback is harmless.
    await deps.signer.recordInvalidation(
      payouts.map((payout) => payout.id),
      proof,
    )
    await tx.reversedPayouts.recordOrphaned(id)
    await tx.transactions.settle(id, { kind: 'invalidated', proof })
    const closedExchangeByPayout = await tx.reversedPayouts.reopen(id)
    await tx.outflow.release(payouts.map((payout) => payout.id))
    await reverseFee(tx, chain, transaction, revertedFeeUnits)
    for (const payout of payouts)
      await reversePayout(tx, id, { ...payout, isReversed: closedExchangeByPayout.get(payout.id) ?? false })
    await tx.alarms.clear(...transactionAlarms(id))
    await tx.alarms.raise(`invalid:${id}`, 'a confirmed transaction is invalid', {
      network,
      transactionId: id,
      attention: 'LOST',
      ...proof,
    })
    await tx.wake(exchangeJobs(payouts))
    return true
  })
  if (isReversed)
    deps.log.error(
      { network, transactionId: id },
      'a confirmed transaction is invalid: its payouts wait for the operator',
    )
}

/** False if the wallet has paid out what a sweep brought. The books then wait until the wallet is filled. */
async function isSweepCovered(tx: StoreTx, transactionId: string, payouts: readonly Payout[]): Promise<boolean> {
  const sweep = payouts.find(({ purpose }) => purpose === 'sweep')
  if (!sweep) return true
  const missing = sweep.units - (await tx.ledger.balance(accounts.wallet, sweep.assetId))
  if (missing <= 0n) return true
  await tx.alarms.raise(`reversed:${sweep.id}`, 'a sweep was reversed, and the wallet has paid out what it brought', {
    transactionId,
    assetId: sweep.assetId,
    missing: missing.toString(),
  })
  await tx.pauses.pause(`asset:${sweep.assetId}`, 'a sweep left the chain', 'worker')
  return false
}

async function reverseFee(
  tx: StoreTx,
  { network }: Chain,
  { id, from }: OutgoingTransaction,
  revertedFeeUnits: bigint | null,
): Promise<void> {
  const fee = await tx.ledger.entry(networkFeeId(id))
  if (fee) await tx.ledger.post(reversalOf(fee, `${fee.id}:reversed`, 'network fee reversed'))
  if (revertedFeeUnits === null) return
  const payer = from.branch === 'deposit' ? 'deposits' : 'wallet'
  await tx.ledger.post(
    revertedFeeEntry({ transactionId: id, from: payer, assetId: nativeId(network), feeUnits: revertedFeeUnits }),
  )
}

async function reversePayout(tx: StoreTx, transactionId: string, payout: Payout): Promise<void> {
  const { id, purpose, orderId, exchangeId, assetId, units } = payout
  await tx.ledger.post(payoutReversalEntry({ ...payout, payoutId: id, transactionId }))
  if (isToOurselves(payout)) {
    await tx.payouts.void(id)
    await tx.operator.releaseSweptDeposits(id)
    return tx.alarms.clear(`reversed:${id}`)
  }
  // Reserved for this payout until the operator decides.
  if (orderId !== null && exchangeId !== null && paysOrder(payout))
    await tx.inventory.reserve(orderId, assetId, units, exchangeId, null)
  await tx.alarms.raise(`reversed:${id}`, 'a confirmed payout was reversed by its chain and waits to be paid again', {
    transactionId,
    purpose,
    exchangeId,
    assetId,
    units: units.toString(),
    next:
      payout.isReversed || exchangeId === null
        ? `swapyard payouts release|drop ${id}`
        : `swapyard exchanges release ${exchangeId}`,
  })
}
