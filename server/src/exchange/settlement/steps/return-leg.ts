import { scale } from '../../../core/domain/amount.ts'
import { AppError } from '../../../core/domain/errors.ts'
import { conversionEntry, dustEntry } from '../../../core/domain/ledger/entries.ts'
import { present } from '../../../lib/assert.ts'
import { endsOf } from '../../domain/exchange.ts'
import { afterNetworkFee, type Costs } from '../../domain/pricing.ts'
import type { Execution } from '../../ports/store/execution.ts'
import {
  type Act,
  convertibleUnits,
  depositAsset,
  holdFor,
  isClearedByOperator,
  isOwed,
  move,
  returnAlarm,
} from './context.ts'
import { nextOrderId, storeOrder } from './convert.ts'
import { costsOfReturn } from './leg-pricing.ts'
import { findFarMove, holdDetailOf, isGuarded, measureReturn } from './price-guard.ts'
import {
  drawnDelayMs,
  holdUnlessAuthentic,
  minOutputUnits,
  payoutIdOf,
  queuePayment,
  refundDestination,
} from './queue-payment.ts'

/**
 * Returns a leg that cannot continue: converts the intermediary back to the source asset at the current rate and refunds it
 * on the source chain, to the refund address or the sender of the first leg. Nothing appears on the recipient's chain. Null =
 * wait for a price, the screening or the reserve.
 */
export async function queueReturn(act: Act): Promise<Execution | null> {
  const { tx, execution } = act
  const { exchange } = act.context
  const give = depositAsset(act)
  const { from: take } = endsOf(exchange)
  const units = present(execution.deposit.creditedUnits, 'a refund has credited units')
  const costs = costsOfReturn(act)
  if (costs === null || act.evidence === null) return null
  if (!(await isOwed(act, give.id, units))) return holdFor(act, 'OPERATOR', {}, { uncovered: give.id })
  const moved = isGuarded(execution) ? findFarMove(measureReturn(act)) : null
  if (moved !== null) return holdFor(act, 'PRICE_GUARD', {}, holdDetailOf(moved))
  const dueUnits = afterNetworkFee(costs, convertibleUnits(act))
  if (dueUnits < minOutputUnits(act, take)) {
    await tx.ledger.post(dustEntry(execution.id, exchange.id, give.id, units))
    await tx.alarms.clear(returnAlarm(execution))
    return move(act, 'failed', 'DUST', 'too small to be refunded')
  }
  const to = refundDestination(act)
  if (to === null) return holdFor(act, 'REFUND_ADDRESS_REQUIRED')
  const held = await holdUnlessAuthentic(act, 'refund')
  if (held !== null) return held
  if (act.evidence.screening !== 'allow' && !isClearedByOperator(execution)) return holdFor(act, 'SCREENING')
  if (!(await isCovered(act, take.id, dueUnits))) return null
  const orderId = await convertBack(act, costs, dueUnits)
  const id = await payoutIdOf(act)
  const queued = await queuePayment(act, {
    id,
    purpose: 'refund',
    asset: take,
    to,
    units: dueUnits,
    delayMs: drawnDelayMs(act),
  })
  return { ...queued, orderId, order: { id: orderId, state: 'filled', takeUnits: dueUnits } }
}

/** Whether the reserve of the source asset covers the refund. If others have reserved it meanwhile, raises an alarm; the leg waits. */
async function isCovered(
  { tx, context: { exchange }, execution }: Act,
  assetId: Execution['deposit']['assetId'],
  units: bigint,
): Promise<boolean> {
  const subject = returnAlarm(execution)
  const available = (await tx.inventory.available()).get(present(assetId, 'the asset of a refund')) ?? 0n
  if (available >= units) {
    await tx.alarms.clear(subject)
    return true
  }
  await tx.alarms.raise(subject, 'a refund in the source asset waits for the reserve', {
    exchangeId: exchange.id,
    assetId,
    missing: (units - available).toString(),
  })
  return false
}

async function convertBack(act: Act, costs: Costs, dueUnits: bigint): Promise<string> {
  const { deps, tx, execution } = act
  const { exchange } = act.context
  const id = nextOrderId(execution)
  const give = depositAsset(act)
  const take = endsOf(exchange).from
  const giveUnits = present(execution.deposit.creditedUnits, 'credited units')
  const order = { id, exchangeId: exchange.id, give, giveUnits, take, takeUnits: dueUnits }
  await storeOrder(act, order)
  const outcome = await deps.venue.place(order, 0n, tx)
  // Another reservation was faster: roll back and run the step again.
  if (outcome.kind !== 'filled')
    throw new AppError('OVERLOADED', 'the reserve of the source asset was reserved by another step')
  await tx.inventory.settleOrder(id, 'filled')
  const gross = scale(convertibleUnits(act), costs.rate.numerator, costs.rate.denominator, 'down')
  const spreadUnits = gross - dueUnits - costs.networkUnits
  await tx.ledger.post(
    conversionEntry({
      orderId: id,
      exchangeId: exchange.id,
      partnerId: exchange.partnerId,
      give: { assetId: give.id, units: giveUnits },
      take: { assetId: take.id, dueUnits, spreadUnits, networkUnits: costs.networkUnits, partnerUnits: 0n },
    }),
  )
  const { status, reason } = execution
  await tx.steps.saveExecution(exchange.id, { id: execution.id, status, reason, orderId: id }, 'converted back', {
    takeUnits: dueUnits.toString(),
  })
  return id
}
