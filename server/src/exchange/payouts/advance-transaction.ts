import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { networkFeeEntry, sentEntry } from '../../core/domain/ledger/entries.ts'
import type { JournalEntry } from '../../core/domain/ledger/journal.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { present } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain, Observation } from '../ports/chain.ts'
import { AlreadyReleasedError, isCancel, type Signer } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'
import { type ServiceSettings, stuckAfterMs } from '../settings.ts'
import { learnInvalidation } from './learn-invalidation.ts'
import { dropInputs, findMissingInputs, type MissingInputs, raiseMissingInputs } from './missing-inputs.ts'
import { isFinal, type ObservedAttempt, observeAttempts } from './observe-attempts.ts'
import { exchangeJobs, transactionAlarms } from './payment.ts'
import { quarantineInputs } from './quarantine-inputs.ts'
import { rebroadcastDropped } from './rebroadcast-dropped.ts'
import { replaceTransaction } from './replace-transaction.ts'
import { requeuePayouts } from './requeue-payouts.ts'
import { rescanNextLegs } from './rescan-next-legs.ts'
import { recordOrphaned, recordReincluded, reverseConfirmed } from './reversed-payouts.ts'

export type AdvanceDeps = Readonly<{
  store: Store
  chains: ReadonlyMap<string, Chain>
  assetById(id: AssetId): Asset
  signer: Signer
  settings: ServiceSettings
  log: Log
  /** For metrics. */
  onPaid?(network: string, purpose: Payout['purpose'], event: 'signed' | 'confirmed'): void
}>

const RECHECK_MS_MAX = 15_000

type Inclusion = Extract<Observation, { kind: 'included' }>

/**
 * Follows one signed transaction until it is final or invalidated. Each call observes all attempts on all nodes and acts on the
 * first case that applies; docs/chain-recovery.md explains the cases.
 */
export function createAdvanceTransaction(deps: AdvanceDeps) {
  return async function advanceTransaction(id: string): Promise<void> {
    const transaction = await deps.store.transactions.load(id)
    if (!transaction || transaction.state === 'final' || transaction.state === 'invalidated') return
    const chain = deps.chains.get(transaction.network)
    // Not configured any more: `unserved:NETWORK`.
    if (chain === undefined) return
    const newest = present(transaction.attempts.at(-1), 'an attempt')
    if (!newest.sent) return broadcastAttempt(deps, chain, transaction, newest)

    const observed = await observeAttempts(deps.store, chain, transaction)
    checkpoint('transaction.observed')
    for (const { attempt, observation } of observed)
      if (observation.kind === 'included')
        return isCancel(attempt.intent)
          ? followCancel(deps, chain, transaction, attempt, observation)
          : followIncluded(deps, chain, transaction, attempt, observation)
    if (observed.every(({ observation }) => observation.kind === 'invalidated'))
      return settleInvalidated(deps, chain, transaction, observed)
    // It is mined: it did not leave the chain, and it waits for no higher fee.
    if (observed.some(({ observation }) => observation.kind === 'pending' && observation.isDisputed))
      return scheduleCheck(deps, chain, transaction, null)

    if (transaction.state === 'confirmed') await recordOrphaned(deps, transaction)
    const pending = observed.filter(({ observation }) => observation.kind === 'pending').map(({ attempt }) => attempt)
    const isPending = pending.length > 0
    const missing = isPending ? null : await findMissingInputs(deps, chain, transaction, newest)
    if (missing) return replaceMissingInputs(deps, chain, transaction, newest, missing)
    if (isStuck(deps, chain, transaction, newest, isPending)) return raiseFee(deps, chain, transaction, newest)
    if (!isPending) {
      await broadcastFundings(chain, transaction)
      return broadcastAttempt(deps, chain, transaction, newest)
    }
    await rebroadcastDropped(deps, chain, transaction, pending)
    return scheduleCheck(deps, chain, transaction, null)
  }
}

/** Sends the stored bytes to all nodes. Their answers change no state; the next observation does (I-15). */
async function broadcastAttempt(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  attempt: Attempt,
): Promise<void> {
  if (!(await recordRelease(deps, chain, transaction, attempt))) return scheduleCheck(deps, chain, transaction, null)
  // A node that checks the bytes has them, so their release is on disk first (I-37).
  if (!attempt.sent && (await quarantineInputs(deps, chain, transaction, attempt))) return
  checkpoint('transaction.before-broadcast')
  const result = await chain.sender.broadcast(attempt.raw)
  checkpoint('transaction.broadcast')
  const { id, network } = transaction
  const { txHash } = attempt
  deps.log.info({ network, transactionId: id, txHash, result: result.kind }, 'transaction broadcast')
  if (result.kind === 'rejected') {
    const { reason } = result
    deps.log.warn({ network, transactionId: id, txHash, reason }, 'broadcast rejected')
    await deps.store.alarms.raise(`broadcast:${id}`, 'nodes refuse a signed transaction', {
      network,
      transactionId: id,
      txHash,
      reason,
    })
  } else {
    await deps.store.alarms.clear(`broadcast:${id}`)
  }
  await scheduleCheck(deps, chain, transaction, attempt.id)
}

/** Records the release in the signer's journal. False if the signer refuses, because a payout left in another transaction (I-37). */
async function recordRelease(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  attempt: Attempt,
): Promise<boolean> {
  const { store, signer, log } = deps
  const { id, network, wallet, from, conflictKey } = transaction
  const { intent, txHash, raw, feeUnits } = attempt
  try {
    await signer.release({ network, txHash, raw, intent, feeUnits, conflictKey, wallet, from })
    return true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Each payout of a batch may have been released before.
    if (error instanceof AlreadyReleasedError && (await learnInvalidation(deps, chain, error)))
      return recordRelease(deps, chain, transaction, attempt)
    log.error({ network, transactionId: id, txHash, err: error }, 'signer refuses to release a transaction')
    await store.alarms.raise(`release:${id}`, 'the signer released these payouts before', {
      network,
      transactionId: id,
      txHash,
      ...(error instanceof AlreadyReleasedError ? { payoutId: error.payoutId } : {}),
    })
    return false
  }
}

async function scheduleCheck(
  { store }: AdvanceDeps,
  { network }: Chain,
  { id, now }: OutgoingTransaction,
  sentAttemptId: string | null,
): Promise<void> {
  const waitMs = Math.min(Math.max(network.blockTimeMs * 2, 1_000), RECHECK_MS_MAX)
  await store.transactions.settle(id, { kind: 'check', at: new Date(now.getTime() + waitMs), sentAttemptId })
}

/** Confirms a transaction that is in a block, once it is deep enough on all nodes, and follows it until it is final. */
async function followIncluded(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  attempt: Attempt,
  observation: Inclusion,
): Promise<void> {
  const head = await chain.reader.head()
  const depth = head.height - observation.block.height + 1
  const { confirmations, finalityBlocks, blockTimeMs } = chain.network
  const isConfirmed = transaction.state === 'confirmed'
  if (depth < confirmations || !(await chain.reader.agrees(observation.block)))
    return scheduleCheck(deps, chain, transaction, attempt.id)
  if (!observation.ok) {
    if (!(await isFinal(chain, observation.block, head.height)))
      return scheduleCheck(deps, chain, transaction, attempt.id)
    return invalidateReverted(deps, chain, transaction, observation)
  }
  if (isConfirmed) {
    await recordReincluded(deps, transaction, attempt)
    if (depth < finalityBlocks) return scheduleCheck(deps, chain, transaction, attempt.id)
    return deps.store.transactions.settle(transaction.id, { kind: 'final' })
  }
  checkpoint('transaction.confirming')
  const feeUnits = observation.feeUnits ?? attempt.feeUnits
  await bookConfirmation(deps, chain, transaction, attempt, {
    ...{ feeUnits, height: observation.block.height },
    finalityMs: blockTimeMs * finalityBlocks,
  })
  checkpoint('transaction.confirmed')
  deps.log.info(
    { network: transaction.network, transactionId: transaction.id, txHash: attempt.txHash, depth },
    'transaction confirmed',
  )
}

/**
 * Acts on a cancel that is in a block. Once it is final on every node, no attempt that pays can be mined: then the payouts
 * are queued again, as if they had never been signed (I-38).
 */
async function followCancel(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  attempt: Attempt,
  { block, feeUnits }: Inclusion,
): Promise<void> {
  if (transaction.state === 'confirmed') await recordOrphaned(deps, transaction)
  const head = await chain.reader.head()
  const paying = transaction.attempts.filter(({ intent }) => !isCancel(intent))
  const observed =
    head.height - block.height + 1 < chain.network.finalityBlocks || !(await chain.reader.agrees(block))
      ? []
      : await observeAttempts(deps.store, chain, {
          ...transaction,
          attempts: paying,
          conflictingTxHash: attempt.txHash,
        })
  if (observed.length === 0 || !observed.every(({ observation }) => observation.kind === 'invalidated'))
    return scheduleCheck(deps, chain, transaction, attempt.id)
  const proof = proofOf(observed)
  const paidFeeUnits = feeUnits ?? attempt.feeUnits
  if (transaction.state === 'confirmed') {
    await reverseConfirmed(deps, chain, transaction, { proof, revertedFeeUnits: paidFeeUnits })
    return scheduleCheck(deps, chain, transaction, null)
  }
  await requeuePayouts(deps, transaction, {
    proof,
    attention: null,
    isCancelled: true,
    postAlso: (tx) => tx.ledger.post(feeEntryOf(chain, transaction, paidFeeUnits)),
  })
}

const proofOf = (observed: readonly ObservedAttempt[]) => ({
  proof: observed.map(({ attempt, observation }) => ({
    txHash: attempt.txHash,
    ...(observation.kind === 'invalidated' ? observation.proof : {}),
  })),
})

async function bookConfirmation(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  attempt: Attempt,
  { feeUnits, height, finalityMs }: Readonly<{ feeUnits: bigint; height: number; finalityMs: number }>,
): Promise<void> {
  const { id, network } = transaction
  await deps.store.transaction(async (tx) => {
    await tx.reversedPayouts.lockExchanges(id, 'orphaned')
    const current = await tx.transactions.load(id)
    if (current?.state !== 'live') return
    const payouts = await tx.payouts.listByTransaction(id)
    await tx.transactions.settle(id, {
      kind: 'confirmed',
      attemptId: attempt.id,
      checkAt: new Date(current.now.getTime() + finalityMs),
    })
    await tx.payouts.confirm(id)
    if (payouts.some(({ isReversed }) => isReversed)) await tx.reversedPayouts.restore(id, attempt.txHash)
    for (const payout of payouts) await tx.ledger.post(sentEntry({ ...payout, payoutId: payout.id, transactionId: id }))
    await postFee(tx, chain, transaction, payouts, feeUnits)
    await tx.alarms.clear(...transactionAlarms(id))
    // The watcher has not found it in a block.
    if (attempt.block === null) await rescanNextLegs(tx, chain, id, height)
    await tx.wake(exchangeJobs(payouts))
    for (const { purpose } of payouts) deps.onPaid?.(network, purpose, 'confirmed')
  })
}

/** Posts the network fee. A sweep of the native currency leaves what it may cost on its address. */
async function postFee(
  tx: StoreTx,
  chain: Chain,
  transaction: OutgoingTransaction,
  [first]: readonly Payout[],
  feeUnits: bigint,
): Promise<void> {
  const isNativeSweep = first?.purpose === 'sweep' && first.assetId === nativeId(chain.network)
  const leftUnits = isNativeSweep ? (await tx.wallets.sweptUnits(first.id)) - first.units : 0n
  await tx.ledger.post(feeEntryOf(chain, transaction, feeUnits, leftUnits))
}

const feeEntryOf = (
  { network }: Chain,
  { id, from }: OutgoingTransaction,
  feeUnits: bigint,
  leftUnits = 0n,
): JournalEntry =>
  networkFeeEntry({
    transactionId: id,
    from: from.branch === 'deposit' ? 'deposits' : 'wallet',
    assetId: nativeId(network),
    feeUnits,
    leftUnits,
  })

/** Acts on a transaction that failed on its chain at finality: the nonce is used, and nothing was paid. */
async function invalidateReverted(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  { block, feeUnits }: Inclusion,
): Promise<void> {
  const proof = { reverted: block.hash, height: block.height }
  const revertedFeeUnits = feeUnits ?? 0n
  if (transaction.state === 'confirmed') {
    await reverseConfirmed(deps, chain, transaction, { proof, revertedFeeUnits })
    return scheduleCheck(deps, chain, transaction, null)
  }
  await requeuePayouts(deps, transaction, {
    proof,
    attention: 'REVERTED',
    postAlso: (tx) => tx.ledger.post(feeEntryOf(chain, transaction, revertedFeeUnits)),
  })
}

/** Acts on a transaction whose attempts all have a conflict proof. */
async function settleInvalidated(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  observed: readonly ObservedAttempt[],
): Promise<void> {
  const proof = proofOf(observed)
  if (transaction.state !== 'confirmed') return requeuePayouts(deps, transaction, { proof, attention: null })
  await reverseConfirmed(deps, chain, transaction, { proof, revertedFeeUnits: null })
  // The reversal may have to wait until the wallet is filled.
  await scheduleCheck(deps, chain, transaction, null)
}

function isStuck(
  { settings }: AdvanceDeps,
  { network }: Chain,
  { now, state }: OutgoingTransaction,
  newest: Attempt,
  isPending: boolean,
): boolean {
  if (state !== 'live' || (network.replaces === 'unseen' && isPending)) return false
  return now.getTime() - newest.createdAt.getTime() > stuckAfterMs(network, settings.stuckMs)
}

/**
 * Signs an attempt with the same conflict key and a higher fee (I-12), or rebroadcasts the newest one. Where nodes relay no
 * replacement, a second attempt would reach no miner, so only the alarm is raised.
 */
async function raiseFee(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  newest: Attempt,
): Promise<void> {
  const code =
    chain.network.bitcoin?.replaceable === false
      ? 'NO_REPLACEMENT'
      : await replaceTransaction(deps, chain, transaction, newest, newest.intent)
  if (code === 'signed') return
  await deps.store.alarms.raise(`stuck:${transaction.id}`, 'a transaction is stuck and its fee cannot be raised', {
    network: transaction.network,
    transactionId: transaction.id,
    txHash: newest.txHash,
    code,
  })
  await broadcastAttempt(deps, chain, transaction, newest)
}

async function broadcastFundings({ sender }: Chain, { fundingTransactions }: OutgoingTransaction): Promise<void> {
  for (const raw of fundingTransactions) await sender.broadcast(raw)
}

/** Signs an attempt without the missing inputs, or rebroadcasts the newest one with the funding transactions that we have. */
async function replaceMissingInputs(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  newest: Attempt,
  missing: MissingInputs,
): Promise<void> {
  await broadcastFundings(chain, transaction)
  const intent = dropInputs(newest.intent, missing)
  const code = intent === null ? missing.kind : await replaceTransaction(deps, chain, transaction, newest, intent)
  if (code === 'signed') return
  await raiseMissingInputs(deps, transaction, newest, missing, code)
  await broadcastAttempt(deps, chain, transaction, newest)
}
