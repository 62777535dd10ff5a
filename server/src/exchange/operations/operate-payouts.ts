import { claimEntry, reservedId, manualSettlementEntry } from '../../core/domain/ledger/entries.ts'
import { reversalOf } from '../../core/domain/ledger/journal.ts'
import { refused, requireReason, type AuditNote } from '../../core/services/audit-note.ts'
import type { HeldPayout } from '../ports/store/operator.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'

/** Twice what nodes relay, in hex: 100 kvB. */
const FUNDING_MAX = 400_000

/**
 * What a person decides about payouts of the house's own (sweeps, gas, withdrawals) and about coins that nobody is owed.
 * A payout of an exchange moves by the exchange's decision alone. Nothing here signs, and nothing frees what is signed:
 * a payout leaves its transaction by a proof of death, which the nodes give and no person.
 */
export function createOperatePayouts(store: Store) {
  async function decide(
    id: string,
    act: 'release' | 'drop',
    word: AuditNote,
    work: (tx: StoreTx, payout: HeldPayout) => Promise<void>,
  ): Promise<HeldPayout> {
    return store.transaction(async (tx) => {
      requireReason(word)
      await tx.reversedPayouts.lockExchangeOf(id)
      const payout = await tx.operator.findPayout(id)
      if (!payout) throw refused(`there is no payout ${id}`)
      if (payout.exchangeId !== null && !payout.isReversed)
        throw refused(`it is of exchange ${payout.exchangeId}: swapyard exchanges release|refund|fail`)
      if (payout.state !== 'reserved')
        throw refused(`payout ${id} is ${payout.state}: its transaction takes its course`)
      if (payout.attention === null) throw refused(`payout ${id} waits in its queue: nothing holds it`)
      await work(tx, payout)
      await tx.alarms.clear(`payout:${id}`, `lost:${id}`)
      await tx.auditLog.record({
        ...word,
        act: `payout ${act}`,
        subject: id,
        before: payout,
        after: await tx.operator.findPayout(id),
      })
      return payout
    })
  }

  return {
    /** Into the queue again, to be signed by a transaction of its own. One that the chain took back is paid again by this alone. */
    release: (id: string, word: AuditNote) =>
      decide(id, 'release', word, async (tx, { network }) => {
        await tx.payouts.approve(id)
        await tx.wake([{ kind: 'dispatch', id: network }])
      }),
    /** Never paid by the house. What a sweep was to fetch may be swept anew; what the chain took back was paid from elsewhere. */
    drop: (id: string, word: AuditNote) =>
      decide(id, 'drop', word, async (tx, { purpose, isReversed: lost }) => {
        if (!(await tx.payouts.void(id))) throw refused(`payout ${id} was signed meanwhile`)
        if (purpose === 'sweep') await tx.operator.releaseSweptDeposits(id)
        if (purpose === 'withdrawal') await giveBack(tx, id)
        if (lost) await settleByHand(tx, id)
      }),
    ...createHints(store),
    /** Coins with a memo that is nobody's are the house's own. */
    claim: (depositId: string, word: AuditNote) =>
      store.transaction(async (tx) => {
        requireReason(word)
        const found = await tx.operator.findUnclaimed(depositId)
        if (!found) throw refused(`deposit ${depositId} is not unclaimed`)
        await tx.operator.markClaimed(found.id)
        await tx.ledger.post(claimEntry(found.id, found.assetId, found.units))
        await tx.alarms.clear(`unclaimed:${found.id}`)
        const { assetId, units } = found
        const before = { owedTo: 'liability:unclaimed', assetId, units }
        const after = { owedTo: 'equity:capital', assetId, units }
        await tx.auditLog.record({ ...word, act: 'funding claimed', subject: found.id, before, after })
        return found
      }),
  }
}

/** What a person knows about a transaction of ours that waits. Nothing about signing changes by it. */
function createHints(store: Store) {
  return {
    /** Where to look for the proof that a transaction of ours is dead. The nodes decide. */
    nameRival: (transactionId: string, rival: string, word: AuditNote) =>
      store.transaction(async (tx) => {
        requireReason(word)
        if (!/^[0-9A-Za-z]{20,100}$/.test(rival)) throw refused(`${rival} is no transaction id`)
        if (!(await tx.operator.setConflictingTxHash(transactionId, rival)))
          throw refused(`transaction ${transactionId} is settled, or not of this house`)
        await tx.auditLog.record({ ...word, act: 'rival named', subject: transactionId, after: { rival } })
        await tx.wake([{ kind: 'transaction', id: transactionId }])
      }),
    /**
     * Bytes that make a coin which left the chain. Offered again they bring it back, and our payment with it; or they are
     * refused, because something else was spent: then that is the rival. Nothing about signing changes by them.
     */
    bringBack: (transactionId: string, raw: string, word: AuditNote) =>
      store.transaction(async (tx) => {
        requireReason(word)
        if (raw.length > FUNDING_MAX || !/^([0-9a-f]{2})+$/.test(raw))
          throw refused('the bytes are hex, in small letters')
        if (!(await tx.operator.addFundingTransaction(transactionId, raw)))
          throw refused(`transaction ${transactionId} is settled, or not of this house`)
        await tx.auditLog.record({ ...word, act: 'funding brought back', subject: transactionId, after: { raw } })
        await tx.wake([{ kind: 'transaction', id: transactionId }])
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

/** What a pay-out took is owed by whom it was owed before; coins that nobody claimed are nobody's again. */
async function giveBack(tx: StoreTx, payoutId: string): Promise<void> {
  const entry = await tx.ledger.entry(reservedId(payoutId))
  if (!entry) return
  await tx.ledger.post(reversalOf(entry, `${entry.id}:reversed`, 'pay-out dropped'))
  await tx.operator.markUnclaimed(payoutId)
}
