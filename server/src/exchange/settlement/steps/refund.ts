import { AppError } from '../../../core/domain/errors.ts'
import { dustEntry, refundFeeEntry } from '../../../core/domain/ledger/entries.ts'
import { present } from '../../../lib/assert.ts'
import { payoutFeeIn } from '../../domain/pricing.ts'
import type { Execution } from '../../ports/store/execution.ts'
import { type Act, depositAsset, holdFor, isClearedByOperator, isOwed, type MarketDeps, move } from './context.ts'
import { unwind } from './convert.ts'
import { holdUnlessAuthentic, minOutputUnits, payoutIdOf, queuePayment, refundDestination } from './queue-payment.ts'
import { findReleasedRefund } from './released-payout.ts'
import { queueReturn } from './return-leg.ts'

/** Starts a refund. Reverses the conversion first, so that we owe the asset of the deposit. */
export async function startRefund(act: Act, reason: Parameters<typeof move>[2]): Promise<Execution> {
  await unwind(act)
  const moved = await move(act, 'refunding', reason, 'refund started', { dueUnits: null })
  return { ...moved, payout: null, order: null }
}

/** Queues the refund of the deposit, less the network fee. Null = no current price for the fee. */
export async function queueRefund(act: Act): Promise<Execution | null> {
  const { tx, execution } = act
  const { exchange } = act.context
  if (execution.leg > 0) return queueReturn(act)
  const asset = depositAsset(act)
  const units = present(execution.deposit.creditedUnits, 'a refund has credited units')
  const feeUnits = refundFee(act)
  if (feeUnits === null) return null
  if (!(await isOwed(act, asset.id, units))) return holdFor(act, 'OPERATOR', {}, { uncovered: asset.id })
  const to = refundDestination(act)
  const released = to === null ? null : await findReleasedRefund(act, asset, to)
  const dueUnits = released !== null && released.units <= units ? released.units : units - feeUnits
  if (dueUnits < minOutputUnits(act, asset) && dueUnits !== released?.units) {
    await tx.ledger.post(dustEntry(execution.id, exchange.id, asset.id, units))
    return move(act, 'failed', 'DUST', 'too small to be refunded')
  }
  if (to === null) return holdFor(act, 'REFUND_ADDRESS_REQUIRED')
  if (act.evidence === null) return null
  const held = await holdUnlessAuthentic(act, 'refund')
  if (held !== null) return held
  if (act.evidence.screening !== 'allow' && !isClearedByOperator(execution)) return holdFor(act, 'SCREENING')
  // Refunds are paid from the hot wallet; without a reserve they wait for the sweep of the deposit.
  const id = await payoutIdOf(act)
  await tx.ledger.post(refundFeeEntry(id, exchange.id, asset.id, units - dueUnits))
  return queuePayment(act, { id, purpose: 'refund', asset, to, units: dueUnits, delayMs: null })
}

/** Network fee of a refund now; null = no current price for it. */
export function refundFee(act: Readonly<{ deps: MarketDeps }> & Pick<Act, 'execution'>): bigint | null {
  const { deps } = act
  const currency = present(deps.currencyOf(depositAsset(act).id), 'the listing of a deposit')
  try {
    return payoutFeeIn(deps.books.current(), currency, deps.clock.now())
  } catch (error) {
    if (error instanceof AppError && error.retryable) return null
    throw error
  }
}
