import { createHash } from 'node:crypto'
import type { AssetId } from '../../core/domain/asset.ts'
import type { Account } from '../../core/domain/ledger/chart.ts'
import { accounts, partnerAccount, reservedId, unclaimed, withdrawalEntry } from '../../core/domain/ledger/entries.ts'
import { type AuditNote, refused, requireReason } from '../../core/services/audit-note.ts'
import { largest, smallest } from '../../lib/bigint.ts'
import { type CapitalPosition, type FreeCapital, freeCapitalOf, type MaxNetworkFees } from '../domain/free-capital.ts'
import type { Destination } from '../ports/chain.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import { clearUnclaimed } from './clear-unclaimed.ts'

export type PayOutRequest = Readonly<{ assetId: AssetId; network: string; units: bigint; destination: Destination }>
export type PayOutResult = Readonly<{ payoutId: string; state: string; repeated: boolean }>

/** Formats an amount for messages to the operator. */
type FormatAmount = (units: bigint, assetId: AssetId) => string
const inUnits: FormatAmount = (units, assetId) => `${units} units of ${assetId}`

/** What withdrawals of capital need: the highest fees of a network, and how messages show amounts. */
type CapitalDeps = Readonly<{ maxFeesOf(network: string): MaxNetworkFees; formatAmount: FormatAmount }>

/** Maximum withdrawals of one deposit, because earlier ones were dropped. */
const RETRIES_MAX = 20

/**
 * Withdrawals of partner balances, unclaimed deposits and capital. One database transaction debits the account and queues the payout;
 * we pay the network fee. The payout id derives from the account and the operator's key. A repeat is therefore paid once, and
 * the signing journal recognises the payout after a restore (I-37).
 */
export function createOperateBalances(
  store: Store,
  maxFeesOf: CapitalDeps['maxFeesOf'],
  formatAmount: FormatAmount = inUnits,
) {
  const deps: CapitalDeps = { maxFeesOf, formatAmount }
  return {
    payOut: (partner: PaidPartner, request: PayOutRequest, key: string, note: AuditNote): Promise<PayOutResult> =>
      store.transaction((tx) => payOut(tx, partner, request, key, note, formatAmount)),
    /** Moves free capital to a cold address. */
    withdraw: (request: PayOutRequest, key: string, note: AuditNote): Promise<PayOutResult> =>
      store.transaction((tx) => withdraw(deps, tx, request, key, note)),
    /** Moves what the hot wallet holds above `ceilingUnits` without queued withdrawals, as far as it is free. */
    withdrawAbove: (
      request: Omit<PayOutRequest, 'units'>,
      ceilingUnits: bigint,
      key: string,
      note: AuditNote,
    ): Promise<PayOutResult & Readonly<{ units: bigint }>> =>
      store.transaction((tx) => withdrawAbove(deps, tx, request, ceilingUnits, key, note)),
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
          const debt = { subject: `deposit ${deposit.id}`, owed: await owedIn(tx, payout) }
          const result = await queue(tx, payout, debt, note, formatAmount)
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
  if (existing) return existing
  return queue(tx, payout, { subject: `partner ${partner.name}`, owed: await owedIn(tx, payout) }, note, formatAmount)
}

type Capital = FreeCapital & Pick<CapitalPosition, 'heldUnits'>

/** Locks the stock: a concurrent withdrawal waits, and then finds the payout of the first. So it is read before the payout is. */
async function lockCapital(
  { maxFeesOf }: CapitalDeps,
  tx: StoreTx,
  { assetId, network }: Pick<PayOutRequest, 'assetId' | 'network'>,
): Promise<Capital> {
  const fees = maxFeesOf(network)
  const position = await tx.inventory.capital(assetId, fees)
  return { ...freeCapitalOf(assetId, position, fees), heldUnits: position.heldUnits }
}

async function withdraw(
  deps: CapitalDeps,
  tx: StoreTx,
  request: PayOutRequest,
  key: string,
  note: AuditNote,
): Promise<PayOutResult> {
  requireReason(note)
  const { formatAmount } = deps
  const from = accounts.capital
  const capital = await lockCapital(deps, tx, request)
  const payout = { ...request, id: idOf(from, key), from, depositId: null }
  const existing = await findRepeated(tx, payout, formatAmount)
  if (existing?.state === 'void') throw refused(`the withdrawal with key ${key} was dropped: use another --key`)
  if (existing) return existing
  const debt = { subject: 'the treasury', owed: capital.units, kept: explainFees(deps, request, capital) }
  return queue(tx, payout, debt, note, formatAmount)
}

/** What a refusal says of the fees, which make less of the wallet free. */
function explainFees(
  { maxFeesOf, formatAmount }: CapitalDeps,
  { assetId, network }: Pick<PayOutRequest, 'assetId' | 'network'>,
  { feeUnits, missingFeeUnits }: Capital,
): string {
  const { native } = maxFeesOf(network)
  if (missingFeeUnits > 0n)
    return `; the wallet lacks ${formatAmount(missingFeeUnits, native)} of the ${formatAmount(feeUnits, native)} that its network fees can need`
  return assetId === native ? `; it keeps ${formatAmount(feeUnits, native)} for network fees` : ''
}

async function withdrawAbove(
  deps: CapitalDeps,
  tx: StoreTx,
  request: Omit<PayOutRequest, 'units'>,
  ceilingUnits: bigint,
  key: string,
  note: AuditNote,
): Promise<PayOutResult & Readonly<{ units: bigint }>> {
  const { assetId } = request
  const capital = await lockCapital(deps, tx, request)
  const [existing] = await tx.payouts.find([idOf(accounts.capital, key)])
  // What is above the ceiling has changed since: a repeat is compared in all but the amount.
  if (existing)
    return {
      ...(await withdraw(deps, tx, { ...request, units: existing.units }, key, note)),
      units: existing.units,
    }
  const { heldUnits } = capital
  const units = smallest(capital.units, heldUnits - ceilingUnits)
  if (units <= 0n) {
    const [held, free] = [largest(heldUnits, 0n), capital.units].map((shown) => deps.formatAmount(shown, assetId))
    throw refused(
      `the wallet holds ${held} without queued withdrawals and ${free} are free: nothing above the ceiling${explainFees(deps, request, capital)}`,
    )
  }
  return { ...(await withdraw(deps, tx, { ...request, units }, key, note)), units }
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

/** What the account of a withdrawal owes. Its balance is negative. */
const owedIn = async (tx: StoreTx, { from, assetId }: Queued): Promise<bigint> =>
  -(await tx.ledger.balance(from, assetId))

/** `kept`: why no more is owed. */
type Debt = Readonly<{ subject: string; owed: bigint; kept?: string }>

async function queue(
  tx: StoreTx,
  request: Queued,
  { subject, owed, kept = '' }: Debt,
  note: AuditNote,
  formatAmount: FormatAmount,
): Promise<PayOutResult> {
  const { id, from, assetId, units, network, destination, depositId } = request
  if (units <= 0n || units > owed)
    throw refused(
      `${subject} has ${formatAmount(owed, assetId)}; ${formatAmount(units, assetId)} cannot be paid out${kept}`,
    )
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
    act: from === accounts.capital ? 'treasury withdraw' : 'pay-out',
    subject,
    detail: { payout: id, assetId, units, ...destination, journal: reservedId(id) },
    before: { account: from, assetId, owed },
    after: { account: from, assetId, owed: owed - units },
  })
  return { payoutId: id, state: 'reserved', repeated: false }
}
