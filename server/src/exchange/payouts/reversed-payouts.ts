import { nativeId } from '../../core/domain/asset.ts'
import { accounts, payoutReversalEntry, networkFeeId, revertedFeeEntry } from '../../core/domain/ledger/entries.ts'
import { reversalOf } from '../../core/domain/ledger/journal.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Signer } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { OutgoingTransaction } from '../ports/store/transactions.ts'
import { alarmsUnderWay, exchangeJobs } from './payment.ts'

type LostDeps = Readonly<{ store: Store; signer: Signer; log: Log }>

/**
 * A transaction that had its confirmations is in no block: a reorganisation deeper than them. Its bytes are offered again
 * by whoever follows it; here the partner and the operator are told.
 */
export async function noteVanished({ store, log }: LostDeps, { id, network }: OutgoingTransaction): Promise<void> {
  const isNew = await store.transaction(async (tx) => {
    await tx.reversedPayouts.lockExchanges(id, 'all')
    if ((await tx.transactions.load(id))?.state !== 'confirmed') return false
    await tx.alarms.raise(`gone:${id}`, 'a confirmed transaction of ours left the chain; its bytes are offered again', {
      network,
    })
    return tx.reversedPayouts.recordOrphaned(id)
  })
  if (isNew) log.warn({ network, transactionId: id }, 'confirmed transaction left the chain')
}

/** It has its confirmations again. */
export async function noteBack(
  { store, log }: LostDeps,
  transaction: OutgoingTransaction,
  txHash: string,
): Promise<void> {
  const { id, network } = transaction
  await store.alarms.clear(`gone:${id}`, `unmined:${id}`)
  if (!(await store.reversedPayouts.isReportedOrphaned(id))) return
  await store.transaction(async (tx) => {
    await tx.reversedPayouts.lockExchanges(id, 'shown')
    if ((await tx.transactions.load(id))?.state === 'confirmed') await tx.reversedPayouts.restore(id, txHash)
  })
  log.info({ network, transactionId: id, txHash }, 'confirmed transaction is back')
}

/** What it cost after all: it was mined, and failed. Null = it is in no block and never will be. */
export type Death = Readonly<{ proof: Record<string, unknown>; failedFor: bigint | null }>

/**
 * It had its confirmations and can never have them again, by the same proof as any other (I-13). The books take
 * back what they said of it, and its payouts wait for a person, who knows whether anybody was paid otherwise meanwhile.
 * Only coins of our own go their way without one: a sweep is planned anew.
 */
export async function bury(
  deps: LostDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  { proof, failedFor }: Death,
): Promise<void> {
  const { id, network } = transaction
  const buried = await deps.store.transaction(async (tx) => {
    await tx.reversedPayouts.lockExchanges(id, 'all')
    const current = await tx.transactions.load(id)
    if (current?.state !== 'confirmed' || current.attempts.length !== transaction.attempts.length) return false
    const payouts = await tx.payouts.listByTransaction(id)
    if (!(await covers(tx, id, payouts))) return false
    // The signer before the commit, as wherever a proof is acted on: a repeat is harmless.
    await deps.signer.expire(
      payouts.map((payout) => payout.id),
      proof,
    )
    await tx.reversedPayouts.recordOrphaned(id)
    await tx.transactions.settle(id, { kind: 'expired', proof })
    const lost = await tx.reversedPayouts.reopen(id)
    await tx.outflow.release(payouts.map((payout) => payout.id))
    await undoFee(tx, chain, transaction, failedFor)
    for (const payout of payouts) await undo(tx, id, { ...payout, isReversed: lost.get(payout.id) ?? false })
    await tx.alarms.clear(...alarmsUnderWay(id))
    await tx.alarms.raise(`dead:${id}`, 'a signed transaction is dead', { network, attention: 'LOST', ...proof })
    await tx.wake(exchangeJobs(payouts))
    return true
  })
  if (buried)
    deps.log.error({ network, transactionId: id }, 'a confirmed transaction is dead: its payouts wait for a person')
}

/** What a sweep brought to the wallet may have been paid out since: then the books wait until the wallet is filled. */
async function covers(tx: StoreTx, transactionId: string, payouts: readonly Payout[]): Promise<boolean> {
  const [sweep] = payouts.filter(({ purpose }) => purpose === 'sweep')
  if (!sweep) return true
  const missing = sweep.units - (await tx.ledger.balance(accounts.wallet, sweep.assetId))
  if (missing <= 0n) return true
  await tx.alarms.raise(`lost:${sweep.id}`, 'a sweep is dead, and the wallet has paid out what it brought', {
    transactionId,
    assetId: sweep.assetId,
    missing: missing.toString(),
  })
  await tx.pauses.pause(`asset:${sweep.assetId}`, 'a sweep left the chain', 'worker')
  return false
}

async function undoFee(
  tx: StoreTx,
  { network }: Chain,
  { id, from }: OutgoingTransaction,
  failedFor: bigint | null,
): Promise<void> {
  const fee = await tx.ledger.entry(networkFeeId(id))
  if (fee) await tx.ledger.post(reversalOf(fee, `${fee.id}:reversed`, 'network fee reversed'))
  if (failedFor !== null && from.branch !== 'deposit')
    await tx.ledger.post(revertedFeeEntry(id, nativeId(network), failedFor))
}

async function undo(tx: StoreTx, transactionId: string, payout: Payout): Promise<void> {
  const { id, purpose, orderId, exchangeId, assetId: asset, units } = payout
  await tx.ledger.post(payoutReversalEntry({ ...payout, payoutId: id, transactionId }))
  if (purpose === 'sweep' || purpose === 'gas') {
    await tx.payouts.void(id)
    await tx.operator.releaseSweptDeposits(id)
    return tx.alarms.clear(`lost:${id}`)
  }
  // Its coins are kept for it until a person decided.
  if (orderId !== null && exchangeId !== null) await tx.inventory.reserve(orderId, asset, units, exchangeId, null)
  await tx.alarms.raise(`lost:${id}`, 'a payout was taken back by its chain, and waits to be paid again', {
    transactionId,
    purpose,
    exchangeId,
    assetId: asset,
    units: units.toString(),
    next:
      payout.isReversed || exchangeId === null
        ? `swapyard payouts release|drop ${id}`
        : `swapyard exchanges release ${exchangeId}`,
  })
}
