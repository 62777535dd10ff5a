import { claimEntry, manualSettlementEntry, reservedId, unownedReturnEntry } from '../../core/domain/ledger/entries.ts'
import { reversalOf } from '../../core/domain/ledger/journal.ts'
import { type AuditNote, refused, requireReason } from '../../core/services/audit-note.ts'
import type { HeldPayout } from '../ports/store/operator.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import { clearUnclaimed } from './clear-unclaimed.ts'
import { releaseInput } from './release-input.ts'

/** Hex digits of a funding transaction: twice the 100 kvB that nodes relay. */
const FUNDING_HEX_MAX = 400_000

/**
 * Operator decisions about our own payouts (sweeps, gas, withdrawals), reversed payouts and unclaimed fundings. Other payouts
 * of an exchange follow the decision about their execution. Nothing here signs or releases a signed payout: only a conflict
 * proof from the nodes does (docs/chain-recovery.md).
 */
export function createOperatePayouts(store: Store) {
  async function decide(
    id: string,
    act: PayoutAct,
    note: AuditNote,
    work: (tx: StoreTx, payout: HeldPayout) => Promise<void>,
  ): Promise<HeldPayout> {
    return store.transaction(async (tx) => {
      requireReason(note)
      await tx.reversedPayouts.lockExchangeOf(id)
      const payout = await tx.operator.findPayout(id)
      if (!payout) throw refused(`there is no payout ${id}`)
      requireDecidable(payout, act)
      await work(tx, payout)
      await tx.alarms.clear(`payout:${id}`, `reversed:${id}`)
      await tx.auditLog.record({
        ...note,
        act: `payout ${act}`,
        subject: id,
        before: payout,
        after: await tx.operator.findPayout(id),
      })
      return payout
    })
  }

  return {
    /**
     * Queues the payout again; also one of an exchange that waits for a network fee or a limit. A reversed payout is paid again
     * only by this.
     */
    release: (id: string, note: AuditNote) =>
      decide(id, 'release', note, async (tx, { network }) => {
        await tx.payouts.approve(id)
        await tx.wake([{ kind: 'dispatch', id: network }])
      }),
    /** Cancels the payout. The deposits of a sweep can be swept again; a reversed payout counts as paid from another wallet. */
    drop: (id: string, note: AuditNote) =>
      decide(id, 'drop', note, async (tx, { purpose, network, isReversed }) => {
        if (!(await tx.payouts.void(id))) throw refused(`payout ${id} has just been signed and cannot be dropped`)
        if (purpose === 'sweep') await tx.operator.releaseSweptDeposits(id)
        if (purpose === 'withdrawal') await reverseWithdrawal(tx, id, network)
        if (isReversed) await settleByHand(tx, id)
      }),
    ...createHints(store),
    releaseInput: (network: string, outpoint: string, note: AuditNote) =>
      releaseInput(store, { network, outpoint, note }),
    /** Books coins that arrived at a hot wallet and belong to no exchange as capital of the operator. */
    claim: (depositId: string, note: AuditNote) =>
      store.transaction(async (tx) => {
        requireReason(note)
        const deposit = await tx.operator.findUnclaimed(depositId)
        if (!deposit) throw refused(`deposit ${depositId} is not unclaimed`)
        const { assetId, network, units } = deposit
        await tx.operator.markClaimed(deposit.id)
        await tx.ledger.post(claimEntry(deposit.id, assetId, units))
        await clearUnclaimed(tx, network)
        const before = { owedTo: 'liability:unclaimed', assetId, units }
        const after = { owedTo: 'equity:capital', assetId, units }
        await tx.auditLog.record({ ...note, act: 'funding claimed', subject: deposit.id, before, after })
        return deposit
      }),
  }
}

const payoutActs = ['release', 'drop'] as const
export type PayoutAct = (typeof payoutActs)[number]

/** What decides whether an operator may decide about a payout. */
export type DecidablePayout = Pick<HeldPayout, 'id' | 'state' | 'attention' | 'postponed' | 'exchangeId' | 'isReversed'>

/** What the operator can decide about this payout itself. */
export const listPayoutActs = (payout: DecidablePayout): readonly PayoutAct[] =>
  payoutActs.filter((act) => findRefusal(payout, act) === null)

function requireDecidable(payout: DecidablePayout, act: PayoutAct): void {
  const refusal = findRefusal(payout, act)
  if (refusal !== null) throw refused(refusal)
}

/** Why the operator may not decide this about the payout; null = it may. */
function findRefusal(payout: DecidablePayout, act: PayoutAct): string | null {
  const { id, state, attention, postponed, exchangeId, isReversed } = payout
  // It waits for a network fee or a limit: only its release is a decision.
  const isPostponed = postponed && attention === null && act === 'release'
  if (exchangeId !== null && !isReversed && !isPostponed)
    return `payout ${id} belongs to exchange ${exchangeId}: use swapyard exchanges release, refund or fail`
  if (state !== 'reserved') return `payout ${id} is ${state}: only a payout that is not signed can be decided`
  // One of no exchange can be dropped whatever it waits for: the queue, a pause, a fee, or its deposit.
  const isOwnDrop = exchangeId === null && act === 'drop'
  if (attention === null && !isPostponed && !isOwnDrop)
    return `payout ${id} is queued and not held: no decision is needed`
  return null
}

/** Hints of the operator about a pending transaction of ours. They change nothing about signing. */
function createHints(store: Store) {
  const storeHint = (
    id: string,
    { note, act, after }: Readonly<{ note: AuditNote; act: string; after: Record<string, unknown> }>,
    save: (tx: StoreTx) => Promise<boolean>,
  ) =>
    store.transaction(async (tx) => {
      requireReason(note)
      if (!(await save(tx))) throw refused(`transaction ${id} is settled or unknown: see swapyard alarms`)
      await tx.auditLog.record({ ...note, act, subject: id, after })
      await tx.wake([{ kind: 'transaction', id }])
    })
  return {
    /** Names a transaction that may conflict with ours. Only the nodes can prove it. */
    setConflictingTransaction: (id: string, conflictingTxHash: string, note: AuditNote) =>
      storeHint(id, { note, act: 'conflicting transaction named', after: { conflictingTxHash } }, async (tx) => {
        if (!/^[0-9A-Za-z]{20,100}$/.test(conflictingTxHash))
          throw refused(`${conflictingTxHash} is not a transaction hash: use 20 to 100 letters and digits`)
        return tx.operator.setConflictingTxHash(id, conflictingTxHash)
      }),
    /**
     * Stores the bytes of a transaction that creates a missing input of ours. Broadcasting them restores the input and our
     * payment, unless nodes reject them because another transaction spent their inputs: then that one conflicts with ours.
     */
    addFundingTransaction: (id: string, raw: string, note: AuditNote) =>
      storeHint(id, { note, act: 'funding transaction added', after: { raw } }, async (tx) => {
        if (raw.length > FUNDING_HEX_MAX || !/^([0-9a-f]{2})+$/.test(raw))
          throw refused(`--raw must be lower-case hex of at most ${FUNDING_HEX_MAX} digits`)
        return tx.operator.addFundingTransaction(id, raw)
      }),
  }
}

async function settleByHand(tx: StoreTx, id: string): Promise<void> {
  const [payout] = await tx.payouts.find([id])
  if (!payout) return
  if (payout.orderId !== null) await tx.inventory.release(payout.orderId)
  await tx.ledger.post(manualSettlementEntry({ ...payout, payoutId: id }))
  await tx.reversedPayouts.settleByHand(id)
}

/** Returns a dropped withdrawal to the account that owed it. An unclaimed deposit is unclaimed again, also after a reorganisation. */
async function reverseWithdrawal(tx: StoreTx, payoutId: string, network: string): Promise<void> {
  const entry = await tx.ledger.entry(reservedId(payoutId))
  if (!entry) return
  await tx.ledger.post(reversalOf(entry, `${entry.id}:reversed`, 'pay-out dropped'))
  const deposit = await tx.operator.markUnclaimed(payoutId)
  if (deposit === null) return
  if (deposit.isCredited)
    await tx.alarms.raise(`unclaimed:${network}`, 'coins that belong to no exchange are at the hot wallet again', {
      network,
      depositId: deposit.id,
      payoutId,
    })
  else
    for (const { assetId, units } of entry.postings) await tx.ledger.post(unownedReturnEntry(payoutId, assetId, units))
}
