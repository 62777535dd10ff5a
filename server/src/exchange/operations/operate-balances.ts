import { createHash } from 'node:crypto'
import type { AssetId } from '../../core/domain/asset.ts'
import type { Account } from '../../core/domain/ledger/chart.ts'
import { accounts, partnerAccount, reservedId, unclaimed, withdrawalEntry } from '../../core/domain/ledger/entries.ts'
import { type AuditNote, refused, requireReason } from '../../core/services/audit-note.ts'
import { smallest } from '../../lib/bigint.ts'
import type { Destination } from '../ports/chain.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import { clearUnclaimed } from './clear-unclaimed.ts'

export type PayOutRequest = Readonly<{ assetId: AssetId; network: string; units: bigint; destination: Destination }>
export type PayOutResult = Readonly<{ payoutId: string; state: string; repeated: boolean }>

/** Formats an amount for messages to the operator. */
type FormatAmount = (units: bigint, assetId: AssetId) => string
const inUnits: FormatAmount = (units, assetId) => `${units} units of ${assetId}`

/** Maximum withdrawals of one deposit, because earlier ones were dropped. */
const RETRIES_MAX = 20

/**
 * Withdrawals of partner balances, unclaimed deposits and capital. One database transaction debits the account and queues the payout;
 * we pay the network fee. The payout id derives from the account and the operator's key. A repeat is therefore paid once, and
 * the signing journal recognises the payout after a restore (I-37).
 */
export function createOperateBalances(store: Store, formatAmount: FormatAmount = inUnits) {
  return {
    payOut: (partner: PaidPartner, request: PayOutRequest, key: string, note: AuditNote): Promise<PayOutResult> =>
      store.transaction((tx) => payOut(tx, partner, request, key, note, formatAmount)),
    /** Moves free capital to a cold address. */
    withdraw: (request: PayOutRequest, key: string, note: AuditNote): Promise<PayOutResult> =>
      store.transaction((tx) => withdraw(tx, request, key, note, formatAmount)),
    /** Moves what the hot wallet holds above `ceilingUnits`, as far as it is free. */
    withdrawAbove: (
      request: Omit<PayOutRequest, 'units'>,
      ceilingUnits: bigint,
      key: string,
      note: AuditNote,
    ): Promise<PayOutResult & Readonly<{ units: bigint }>> =>
      store.transaction((tx) => withdrawAbove(tx, request, ceilingUnits, key, note, formatAmount)),
    /** Pays out a whole unclaimed deposit. */
    payUnclaimed: (
      depositId: string,
      check: (assetId: AssetId) => Promise<Destination>,
      note: AuditNote,
    ): Promise<PayOutResult & Readonly<{ assetId: AssetId; units: bigint }>> =>
      store.transaction(async (tx) => {
        requireReason(note)
        const deposit = await tx.operator.findUnclaimedDeposit(depositId)
        if (!deposit) throw refused(`deposit ${depositId} is not unclaimed`)
        const { assetId, network, units } = deposit
        const request = { assetId, network, units, destination: await check(assetId) }
        for (let n = 0; n < RETRIES_MAX; n++) {
          const id = idOf(unclaimed, `deposit ${deposit.id} ${n}`)
          const payout = { ...request, id, from: unclaimed, depositId: deposit.id }
          const existing = await findRepeated(tx, payout, formatAmount)
          if (existing?.state === 'void') continue
          if (existing) return { ...existing, assetId, units }
          await tx.operator.markClaimed(deposit.id)
          await clearUnclaimed(tx, network)
          const result = await queue(tx, payout, `deposit ${deposit.id}`, note, formatAmount)
          return { ...result, assetId, units }
        }
        throw refused(`deposit ${depositId}: ${RETRIES_MAX} payouts were dropped, the maximum`)
      }),
  }
}

type PaidPartner = Readonly<{ id: string; name: string }>

/** Queues the payout of a partner's balance in the transaction of the caller. */
export async function payOut(
  tx: StoreTx,
  partner: PaidPartner,
  request: PayOutRequest,
  key: string,
  note: AuditNote,
  formatAmount: FormatAmount = inUnits,
): Promise<PayOutResult> {
  requireReason(note)
  const from = partnerAccount(partner.id)
  const payout = { ...request, id: idOf(from, key), from, depositId: null }
  const existing = await findRepeated(tx, payout, formatAmount)
  if (existing?.state === 'void') throw refused(`the payout with key ${key} was dropped: use another --key`)
  return existing ?? (await queue(tx, payout, `partner ${partner.name}`, note, formatAmount))
}

async function withdraw(
  tx: StoreTx,
  request: PayOutRequest,
  key: string,
  note: AuditNote,
  formatAmount: FormatAmount,
): Promise<PayOutResult> {
  requireReason(note)
  const from = accounts.capital
  const payout = { ...request, id: idOf(from, key), from, depositId: null }
  const existing = await findRepeated(tx, payout, formatAmount)
  if (existing?.state === 'void') throw refused(`the withdrawal with key ${key} was dropped: use another --key`)
  return existing ?? (await queue(tx, payout, 'the treasury', note, formatAmount))
}

async function withdrawAbove(
  tx: StoreTx,
  request: Omit<PayOutRequest, 'units'>,
  ceilingUnits: bigint,
  key: string,
  note: AuditNote,
  formatAmount: FormatAmount,
): Promise<PayOutResult & Readonly<{ units: bigint }>> {
  const { assetId } = request
  const [existing] = await tx.payouts.find([idOf(accounts.capital, key)])
  // What is above the ceiling has changed since: a repeat is compared in all but the amount.
  if (existing)
    return {
      ...(await withdraw(tx, { ...request, units: existing.units }, key, note, formatAmount)),
      units: existing.units,
    }
  const freeUnits = await tx.inventory.freeCapital(assetId)
  const heldUnits = await tx.ledger.balance(accounts.wallet, assetId)
  const units = smallest(freeUnits, heldUnits - ceilingUnits)
  if (units <= 0n)
    throw refused(
      `the wallet holds ${formatAmount(heldUnits, assetId)} and ${formatAmount(freeUnits, assetId)} are free: nothing above the ceiling`,
    )
  return { ...(await withdraw(tx, { ...request, units }, key, note, formatAmount)), units }
}

type Queued = PayOutRequest & Readonly<{ id: string; from: Account; depositId: string | null }>

/** UUID version 8 (RFC 9562): derived from a hash. */
function idOf(from: Account, key: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify(['withdrawal', from, key]))
    .digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

async function findRepeated(tx: StoreTx, request: Queued, formatAmount: FormatAmount): Promise<PayOutResult | null> {
  const [existing] = await tx.payouts.find([request.id])
  if (!existing) return null
  const { assetId, units, address, memo, state } = existing
  const { destination } = request
  const isSame =
    assetId === request.assetId &&
    units === request.units &&
    address === destination.address &&
    memo === destination.memo
  if (!isSame && state !== 'void')
    throw refused(`this key or deposit already has a payout: ${formatAmount(units, assetId)} to ${address}`)
  return { payoutId: existing.id, state, repeated: true }
}

async function queue(
  tx: StoreTx,
  request: Queued,
  subject: string,
  note: AuditNote,
  formatAmount: FormatAmount,
): Promise<PayOutResult> {
  const { id, from, assetId, units, network, destination, depositId } = request
  // The operator owns what is left when everybody is paid.
  const isCapital = from === accounts.capital
  const owed = isCapital ? await tx.inventory.freeCapital(assetId) : -(await tx.ledger.balance(from, assetId))
  if (units <= 0n || units > owed)
    throw refused(`${subject} has ${formatAmount(owed, assetId)}; ${formatAmount(units, assetId)} cannot be paid out`)
  const isNew = await tx.ledger.post(withdrawalEntry(id, from, assetId, units))
  // A concurrent call with the same key was first.
  if (!isNew)
    return (await findRepeated(tx, request, formatAmount)) ?? { payoutId: id, state: 'reserved', repeated: true }
  await tx.payouts.insert({
    id,
    exchangeId: null,
    executionId: null,
    depositId,
    leg: null,
    purpose: 'withdrawal',
    network,
    assetId,
    from: 'hot',
    ...destination,
    units,
    owedFrom: from,
  })
  await tx.wake([{ kind: 'dispatch', id: network }])
  await tx.auditLog.record({
    ...note,
    act: isCapital ? 'treasury withdraw' : 'pay-out',
    subject,
    detail: { payout: id, assetId, units, ...destination, journal: reservedId(id) },
    before: { account: from, assetId, owed },
    after: { account: from, assetId, owed: owed - units },
  })
  return { payoutId: id, state: 'reserved', repeated: false }
}
