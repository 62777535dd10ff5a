import {
  accounts,
  depositEntry,
  depositLossEntry,
  depositLossReversalEntry,
  depositRecoveryEntry,
  depositReversalEntry,
  unclaimedEntry,
} from '../../../core/domain/ledger/entries.ts'
import { isUtxoFamily } from '../../../core/domain/network.ts'
import { present } from '../../../lib/assert.ts'
import type { StatusReason } from '../../domain/exchange.ts'
import { isTerminal } from '../../domain/lifecycle.ts'
import type { Execution, OnRelease } from '../../ports/store/execution.ts'
import {
  type Act,
  depositAsset,
  fundsLocationOf,
  getChain,
  holdFor,
  isRightAsset,
  move,
  saveDeposit,
} from './context.ts'
import { termsOf, unwind } from './convert.ts'
import { findLoss } from './recount.ts'
import { findReleased } from './released-payout.ts'

/** Credits a deposit that is deep enough on all nodes, and chooses the next status. Null = the evidence is stale. */
export async function credit(act: Act): Promise<Execution | null> {
  const { execution, tx, evidence } = act
  const { deposit } = execution
  if (!evidence?.deposit || !deposit.block || !(await isCurrent(act))) return null
  const { receivedUnits } = evidence.deposit
  if (receivedUnits === 0n) {
    const rejected = await saveDeposit(act, { status: 'rejected' })
    await tx.alarms.raise(
      `unreceived:${deposit.id}`,
      'the address received nothing by a transfer that its chain reports',
      {
        exchangeId: act.context.exchange.id,
        txHash: deposit.txHash,
      },
    )
    const detail = { claimedUnits: deposit.units.toString() }
    return { ...(await move(act, 'failed', 'NOT_RECEIVED', 'nothing was received', {}, detail)), deposit: rejected }
  }
  const credits = deposit.credits + 1
  const credited = await saveDeposit(act, {
    status: 'credited',
    creditedUnits: receivedUnits,
    credits,
    isBookedAsLoss: false,
  })
  await tx.ledger.post(depositEntry(entryOf({ ...act, execution: { ...execution, deposit: credited } })))
  const shownUnits = isRightAsset(act) ? receivedUnits : null
  const next = { ...act, execution: { ...execution, deposit: credited, receivedUnits: shownUnits } }
  const { status, reason } = await chooseStatus(next)
  // A released deposit of the wrong asset is refunded, whatever the operator decided about the screening.
  const onRelease: OnRelease = isRightAsset(next)
    ? { status: 'exchanging', reason: null }
    : { status: 'refunding', reason: 'WRONG_ASSET' }
  const moved = await move(
    next,
    status,
    reason,
    'deposit credited',
    { receivedUnits: shownUnits },
    { units: receivedUnits.toString(), height: deposit.block.height },
  )
  if (execution.status === 'verifying') await tx.alarms.clear(`held:${execution.id}`)
  if (status !== 'verifying' || reason === null) return moved
  return holdFor({ ...next, execution: moved }, reason, { onRelease }, { screening: evidence.screening })
}

/**
 * Whether the deposit's block is the one that was checked and the one that the watcher has at that height (I-4), and the address still holds
 * what the check subtracted.
 */
async function isCurrent(act: Act): Promise<boolean> {
  const { tx, execution, evidence, deps, context } = act
  const { deposit } = execution
  const { exchange, heads } = context
  if (deposit.block === null || evidence?.deposit?.blockHash !== deposit.block.hash) return false
  const { heldUnits } = evidence.deposit
  if (heldUnits !== null && (await tx.steps.heldUnits(exchange.id, deposit)) !== heldUnits) return false
  const stored = await tx.chainLog.blockHash(deposit.network, deposit.block.height)
  if (stored !== null) return stored === deposit.block.hash
  // Older than the stored blocks: final, and all nodes have just agreed on it.
  const { finalityBlocks } = getChain(deps, deposit.network).network
  return (heads.get(deposit.network) ?? 0) - deposit.block.height > finalityBlocks
}

type NextStatus = { status: 'exchanging' | 'refunding' | 'verifying'; reason: StatusReason | null }

async function chooseStatus(act: Act): Promise<NextStatus> {
  if (act.execution.status === 'failed') return { status: 'refunding', reason: 'LATE_DEPOSIT' }
  if (await repeatsLoss(act)) return { status: 'verifying', reason: 'REORG_AFTER_PAYOUT' }
  if (act.evidence?.screening !== 'allow') return { status: 'verifying', reason: 'SCREENING' }
  if (!isRightAsset(act)) return { status: 'refunding', reason: 'WRONG_ASSET' }
  const terms = await termsOf(act)
  // Without a current rate the conversion waits, not the credit. What a signer released is not refunded as well.
  return terms.kind === 'refund' && (await findReleased(act)) === null
    ? { status: 'refunding', reason: terms.reason }
    : { status: 'exchanging', reason: null }
}

/**
 * The same transaction paid this exchange before a reorganisation, in another asset, and that payment was paid out. Only an
 * operator can tell whether this one was meant to replace it.
 */
function repeatsLoss({ deps, tx, context, execution: { deposit } }: Act): Promise<boolean> | boolean {
  // Elsewhere the hash of a transaction covers its outputs.
  if (isUtxoFamily(getChain(deps, deposit.network).network)) return false
  return tx.steps.repeatsLostDeposit(context.exchange.id, deposit)
}

function entryOf({ deps, context: { exchange }, execution }: Act) {
  const { deposit } = execution
  const assetId = present(deposit.assetId, 'a credited deposit has an asset')
  return {
    depositId: deposit.id,
    credits: deposit.credits,
    exchangeId: exchange.id,
    assetId,
    units: present(deposit.creditedUnits, 'a credited deposit has units'),
    location: fundsLocationOf(present(deps.currencyOf(assetId), `the listing of ${assetId}`).network),
  }
}

/** Reverses conversion and credit of a deposit that left the chain before anything was signed. Null = see `takeBack`. */
export async function revertToPending(act: Act): Promise<Execution | null> {
  const deposit = await takeBack(act)
  if (deposit === null) return null
  const moved = await move(act, 'pending', 'DEPOSIT_VANISHED', 'deposit vanished', {
    receivedUnits: null,
    dueUnits: null,
    rateKind: null,
    orderId: null,
    decision: null,
  })
  return { ...moved, deposit, payout: null, order: null }
}

/**
 * Reverses conversion and credit. Null = the wallet has spent the coins: nothing is reversed, and the step tries again until the
 * wallet is filled. Nothing is signed meanwhile, because the deposit is in no block (I-34).
 */
async function takeBack(act: Act): Promise<Execution['deposit'] | null> {
  const { deposit } = act.execution
  const missing = deposit.status === 'credited' && !deposit.isBookedAsLoss ? await findMissing(act) : 0n
  if (missing > 0n) {
    await raiseReorg(act, 'a deposit left the chain after its coins were spent', missing)
    return null
  }
  await unwind(act)
  return uncredit(act)
}

/** What the account of the deposit lacks to reverse its credit; not above 0 = nothing. */
async function findMissing(act: Act): Promise<bigint> {
  const { location, assetId, units } = entryOf(act)
  return units - (await act.tx.ledger.balance(accounts[location], assetId))
}

/** Raises the alarm, and pauses the asset if coins are missing: what does not exist is not quoted. */
async function raiseReorg(act: Act, alarm: string, missing: bigint): Promise<void> {
  const { tx, context, execution } = act
  const { id, txHash, assetId } = execution.deposit
  await tx.alarms.raise(`reorg:${id}`, alarm, {
    exchangeId: context.exchange.id,
    txHash,
    ...(missing > 0n ? { missing: missing.toString() } : {}),
  })
  if (missing > 0n)
    await tx.pauses.pause(`asset:${assetId}`, 'a deposit left the chain after it was paid out', 'stepper')
}

async function uncredit(act: Act): Promise<Execution['deposit']> {
  const { tx } = act
  const { deposit } = act.execution
  const { exchange } = act.context
  await tx.alarms.clear(`reorg:${deposit.id}`)
  // It may return with other units, and a sweep of the old ones would leave the rest on its address.
  await tx.wallets.cancelUnsignedSweep(deposit.id)
  if (deposit.isBookedAsLoss) {
    // The loss was booked because a payout was signed. That transaction is invalid, so nothing was lost.
    const loss = present(await tx.ledger.entry(`deposit:${deposit.id}:loss:${deposit.credits}`), 'the entry of a loss')
    const { assetId, units } = present(loss.postings[0], 'its posting')
    await tx.ledger.post(
      depositLossReversalEntry({
        depositId: deposit.id,
        credits: deposit.credits,
        exchangeId: exchange.id,
        assetId,
        units,
      }),
    )
    return saveDeposit(act, { status: 'reversed', creditedUnits: null, isBookedAsLoss: false })
  }
  if (deposit.status !== 'credited') return deposit
  await act.tx.ledger.post(depositReversalEntry(entryOf(act)))
  return saveDeposit(act, { status: 'reversed', creditedUnits: null })
}

/**
 * Holds the execution for the operator. If its deposit left the chain, reverses conversion and credit first; null = see `takeBack`.
 * The decision to close it as failed stays: it needs no deposit.
 */
export async function holdExecution(
  act: Act,
  reason: StatusReason,
  detail: Record<string, unknown> = {},
): Promise<Execution | null> {
  if (reason !== 'DEPOSIT_VANISHED') return holdFor(act, reason, {}, detail)
  const deposit = await takeBack(act)
  if (deposit === null) return null
  const decision = act.execution.decision === 'fail' ? 'fail' : null
  const moved = await holdFor(act, reason, { decision, dueUnits: null, rateKind: null, orderId: null })
  return { ...moved, deposit, payout: null, order: null }
}

/**
 * Books a loss: the deposit left the chain after its payout was signed (I-6). If the wallet's account no longer covers the
 * loss, pauses the asset and returns null; the step tries again until the wallet is filled.
 */
export async function bookLoss(act: Act): Promise<Execution | null> {
  const { execution, tx } = act
  const missing = await findMissing(act)
  await raiseReorg(act, 'a deposit left the chain after its payout was signed', missing)
  if (missing > 0n) return null
  await tx.wallets.cancelUnsignedSweep(execution.deposit.id)
  await tx.ledger.post(depositLossEntry(entryOf(act)))
  const deposit = await saveDeposit(act, { status: 'reversed', creditedUnits: null, isBookedAsLoss: true })
  const keepsStatus = isTerminal(execution.status) || execution.status === 'verifying'
  const { status, reason } = keepsStatus ? execution : ({ status: 'verifying', reason: 'REORG_AFTER_PAYOUT' } as const)
  return { ...(await move(act, status, reason, 'deposit lost')), deposit }
}

/** Reverses the loss of a deposit that is back on the chain and deep enough. */
export async function reverseLoss(act: Act): Promise<Execution | null> {
  const { execution, evidence, tx } = act
  const { deposit } = execution
  if (!evidence?.deposit || evidence.deposit.receivedUnits === 0n || !(await isCurrent(act))) return null
  const credited = await saveDeposit(act, {
    status: 'credited',
    creditedUnits: evidence.deposit.receivedUnits,
    credits: deposit.credits + 1,
    isBookedAsLoss: false,
  })
  const next = { ...act, execution: { ...execution, deposit: credited } }
  await tx.ledger.post(depositRecoveryEntry(entryOf(next)))
  const lostUnits = await findLoss(tx, deposit, deposit.credits)
  if (lostUnits === credited.creditedUnits) await tx.alarms.clear(`reorg:${deposit.id}`)
  else
    await tx.alarms.raise(`reorg:${deposit.id}`, 'a deposit returned with other units after its payout was signed', {
      exchangeId: act.context.exchange.id,
      txHash: deposit.txHash,
      lostUnits: lostUnits?.toString() ?? null,
      units: credited.creditedUnits?.toString() ?? null,
    })
  return move(next, execution.status, execution.reason, 'deposit recovered')
}

/** Books the deposit of an exchange that the operator closed unpaid as unclaimed. */
export async function bookUnclaimed(act: Act): Promise<void> {
  const { execution, tx } = act
  const { exchange } = act.context
  if (execution.deposit.status !== 'credited') return
  const { units } = entryOf(act)
  await tx.ledger.post(unclaimedEntry(execution.id, exchange.id, depositAsset(act).id, units))
}
