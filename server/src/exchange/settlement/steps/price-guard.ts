import { AppError } from '../../../core/domain/errors.ts'
import { present } from '../../../lib/assert.ts'
import { absolute } from '../../../lib/bigint.ts'
import { afterNetworkFee, beforeNetworkFee } from '../../domain/pricing.ts'
import type { Execution } from '../../ports/store/execution.ts'
import { type Act, hasNextLeg, legOf } from './context.ts'
import { costsOfReturn, pricingOf } from './leg-pricing.ts'

type Position = Pick<Act, 'deps' | 'context' | 'execution'>

/** The operator's decision overrides the price guard until the next hold. */
export const isGuarded = ({ decision }: Execution): boolean => decision === null || decision === 'fail'

/**
 * Whether the floating rate is further away from the quote at the create than the price guard allows; null = no current
 * price. The rates of the ordered amount are compared, whatever was paid. A changed network fee alone does not count.
 */
export function hasPriceMoved(position: Position): boolean | null {
  try {
    return position.context.exchange.legs.length === 1 ? hasRateMoved(position) : hasLegMoved(position)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function hasRateMoved(position: Position): boolean {
  const { fromUnits, toUnits } = position.context.exchange
  const current = pricingOf(position, legOf(position))
  return isFar(position, afterNetworkFee(current, fromUnits), toUnits, current.networkUnits)
}

/**
 * Of two legs the first is compared for itself, because a wrong price of the intermediary cancels out in the whole, and
 * together with the second; the second with what the first one really gave. So the whole stays within the limit, although
 * the legs are converted at different times.
 */
function hasLegMoved(position: Position): boolean {
  const { exchange } = position.context
  const { quoted } = present(exchange.plan, 'the plan of two legs')
  const [first, last] = [present(exchange.legs[0], 'a first leg'), present(exchange.legs.at(-1), 'a last leg')]
  const wholeOf = (units: bigint) => beforeNetworkFee(pricingOf(position, last), units)
  if (!hasNextLeg(position)) return isFar(position, wholeOf(viaUnitsOf(position)), BigInt(quoted.toUnits))
  const viaUnits = beforeNetworkFee(pricingOf(position, first), exchange.fromUnits)
  return (
    isFar(position, viaUnits, BigInt(quoted.viaUnits)) || isFar(position, wholeOf(viaUnits), BigInt(quoted.toUnits))
  )
}

/** Whether the return of a later leg is further away from the ordered amount than the guard allows; null = no current price. */
export function hasReturnMoved(position: Position): boolean | null {
  const costs = costsOfReturn(position)
  if (costs === null) return null
  return isFar(position, beforeNetworkFee(costs, viaUnitsOf(position)), position.context.exchange.fromUnits)
}

/** Whether an execution that the guard holds may continue: to its refund if it was held on its way there, else to its conversion. */
export function hasPriceReturned(position: Position): boolean {
  const { status, reason, onRelease, leg } = position.execution
  if (status !== 'verifying' || reason !== 'PRICE_GUARD') return false
  const hasMoved = leg > 0 && onRelease?.status === 'refunding' ? hasReturnMoved : hasPriceMoved
  return hasMoved(position) === false
}

/** What a first leg stores for the guard of the next one: what its rate gives for the ordered amount. */
export function orderedUnitsOf(act: Act): Pick<Execution, 'orderedUnits'> | undefined {
  if (!hasNextLeg(act)) return undefined
  return { orderedUnits: beforeNetworkFee(pricingOf(act, legOf(act)), act.context.exchange.fromUnits) }
}

const viaUnitsOf = ({ execution }: Position): bigint =>
  present(execution.sourceOrderedUnits, `what the first leg of ${execution.id} gave for the ordered amount`)

function isFar({ deps }: Position, units: bigint, quotedUnits: bigint, toleratedUnits = 0n): boolean {
  const allowed = quotedUnits * BigInt(deps.settings.guards.priceMovePercent)
  return (absolute(units - quotedUnits) - toleratedUnits) * 100n > allowed
}
