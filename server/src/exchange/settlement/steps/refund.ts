import { AppError } from '../../../core/domain/errors.ts'
import { dustEntry, refundFeeEntry } from '../../../core/domain/ledger/entries.ts'
import { present } from '../../../lib/assert.ts'
import { payoutFeeIn } from '../../domain/pricing.ts'
import type { Execution } from '../../ports/store/execution.ts'
import { type Act, depositAsset, holdFor, isClearedByOperator, isOwed, move } from './context.ts'
import { unwind } from './convert.ts'
import { minOutputUnits, payoutIdOf, refundDestination, reserve } from './reserve.ts'
import { reserveReturn } from './return-leg.ts'

/** Starts a refund: what was converted is taken back first, so that the customer is owed the coin that came in. */
export async function startRefund(act: Act, reason: Parameters<typeof move>[2]): Promise<Execution> {
  await unwind(act)
  const moved = await move(act, 'refunding', reason, 'refund started', { dueUnits: null })
  return { ...moved, payout: null, order: null }
}

/** Reserves the refund: what came in, less the network fee. Null = the fee is not known now. */
export async function reserveRefund(act: Act): Promise<Execution | null> {
  const {
    tx,
    execution,
    context: { exchange },
  } = act
  if (execution.leg > 0) return reserveReturn(act)
  const asset = depositAsset(act)
  const units = present(execution.deposit.creditedUnits, 'a refund has what came in')
  const feeUnits = refundFee(act)
  if (feeUnits === null) return null
  if (!(await isOwed(act, asset.id, units))) return holdFor(act, 'OPERATOR', {}, { uncovered: asset.id })
  if (units - feeUnits < minOutputUnits(act, asset)) {
    await tx.ledger.post(dustEntry(execution.id, exchange.id, asset.id, units))
    return move(act, 'failed', 'DUST', 'too small to be refunded')
  }
  const to = refundDestination(act)
  if (to === null) return holdFor(act, 'NO_REFUND_ADDRESS')
  if (act.evidence === null) return null
  if (act.evidence.screening !== 'allow' && !isClearedByOperator(execution)) return holdFor(act, 'SCREENING')
  // A token's refund is paid from the hot wallet as well: without the reserve it waits there for the sweep.
  const id = await payoutIdOf(act)
  await tx.ledger.post(refundFeeEntry(id, exchange.id, asset.id, feeUnits))
  return reserve(act, { id, purpose: 'refund', asset, to, units: units - feeUnits, heldMs: null })
}

function refundFee(act: Act): bigint | null {
  const { deps } = act
  const currency = present(deps.currencyOf(depositAsset(act).id), 'the listing of a deposit')
  try {
    return payoutFeeIn(deps.books.current(), currency, deps.clock.now())
  } catch (error) {
    if (error instanceof AppError && error.retryable) return null
    throw error
  }
}
