import { formatUnits, scale } from '../../../core/domain/amount.ts'
import type { AssetId } from '../../../core/domain/asset.ts'
import { AppError } from '../../../core/domain/errors.ts'
import { present } from '../../../lib/assert.ts'
import { absolute } from '../../../lib/bigint.ts'
import { endsOf } from '../../domain/exchange.ts'
import { afterNetworkFee, beforeNetworkFee } from '../../domain/pricing.ts'
import type { Execution } from '../../ports/store/execution.ts'
import { type Act, hasNextLeg, legOf, type MarketDeps } from './context.ts'
import { costsOfReturn, pricingOf } from './leg-pricing.ts'

type Guarded = Pick<Execution, 'id' | 'leg' | 'sourceOrderedUnits'>
/** Also of an exchange without a deposit: then its first leg is compared. */
type GuardedPosition = Readonly<{
  deps: MarketDeps
  context: Pick<Act['context'], 'exchange'>
  execution: Guarded
}>

/** What the quote gave for the ordered amount, and what the current price gives. */
export type PriceMove = Readonly<{
  assetId: AssetId
  quotedUnits: bigint
  currentUnits: bigint
  /** Distance from the quote, rounded away from it. */
  movePercent: string
  allowedPercent: string
  isFar: boolean
}>

/** The operator's decision overrides the price guard until the next hold. */
export const isGuarded = ({ decision }: Pick<Execution, 'decision'>): boolean =>
  decision === null || decision === 'fail'

/**
 * Compares the floating rate with the quote at the create; null = no current price. The rates of the ordered amount are
 * compared, whatever was paid. A changed network fee alone does not count.
 */
export function measurePrices(position: GuardedPosition): readonly PriceMove[] | null {
  try {
    return position.context.exchange.legs.length === 1 ? measureRate(position) : measureLegs(position)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function measureRate(position: GuardedPosition): readonly PriceMove[] {
  const { fromUnits, toUnits } = position.context.exchange
  const leg = legOf(position)
  const current = pricingOf(position, leg)
  return [measure(position, leg.to.id, afterNetworkFee(current, fromUnits), toUnits, current.networkUnits)]
}

/**
 * Of two legs the first is compared for itself, because a wrong price of the intermediary cancels out in the whole, and
 * together with the second; the second with what the first one really gave. So the whole stays within the limit, although
 * the legs are converted at different times.
 */
function measureLegs(position: GuardedPosition): readonly PriceMove[] {
  const { exchange } = position.context
  const { quoted } = present(exchange.plan, 'the plan of two legs')
  const [first, last] = [present(exchange.legs[0], 'a first leg'), present(exchange.legs.at(-1), 'a last leg')]
  const measureWhole = (viaUnits: bigint) => {
    const units = beforeNetworkFee(pricingOf(position, last), viaUnits)
    return measure(position, last.to.id, units, BigInt(quoted.toUnits))
  }
  if (!hasNextLeg(position)) return [measureWhole(viaUnitsOf(position))]
  const viaUnits = beforeNetworkFee(pricingOf(position, first), exchange.fromUnits)
  return [measure(position, first.to.id, viaUnits, BigInt(quoted.viaUnits)), measureWhole(viaUnits)]
}

/** Compares what the return of a later leg gives with the ordered amount; null = no current price. */
export function measureReturn(
  position: Omit<GuardedPosition, 'execution'> & Readonly<{ execution: Guarded & Pick<Execution, 'deposit'> }>,
): readonly PriceMove[] | null {
  const costs = costsOfReturn(position)
  if (costs === null) return null
  const { exchange } = position.context
  const units = beforeNetworkFee(costs, viaUnitsOf(position))
  return [measure(position, endsOf(exchange).from.id, units, exchange.fromUnits)]
}

/** The comparison for which the guard holds an execution; null = none is too far, or there is no current price. */
export const findFarMove = (moves: readonly PriceMove[] | null): PriceMove | null =>
  moves?.find(({ isFar }) => isFar) ?? null

/** What the operator sees of a hold: units as text, because the detail of an event is JSON. */
export const holdDetailOf = ({ assetId, quotedUnits, currentUnits, movePercent, allowedPercent }: PriceMove) => ({
  ...{ assetId, movePercent, allowedPercent },
  ...{ quotedUnits: quotedUnits.toString(), currentUnits: currentUnits.toString() },
})

/** What decides whether an execution that waits for a price may continue: its refund if it was held on its way there. */
export const measureHeld = (
  position: Omit<GuardedPosition, 'execution'> & Pick<Act, 'execution'>,
): readonly PriceMove[] | null => {
  const { onRelease, leg } = position.execution
  return leg > 0 && onRelease?.status === 'refunding' ? measureReturn(position) : measurePrices(position)
}

/** Whether an execution that the guard holds may continue: to its refund if it was held on its way there, else to its conversion. */
export function hasPriceReturned(position: Pick<Act, 'deps' | 'context' | 'execution'>): boolean {
  const { status, reason } = position.execution
  if (status !== 'verifying' || reason !== 'PRICE_GUARD') return false
  const moves = measureHeld(position)
  return moves !== null && findFarMove(moves) === null
}

/** What a first leg stores for the guard of the next one: what its rate gives for the ordered amount. */
export function orderedUnitsOf(act: Act): Pick<Execution, 'orderedUnits'> | undefined {
  if (!hasNextLeg(act)) return undefined
  return { orderedUnits: beforeNetworkFee(pricingOf(act, legOf(act)), act.context.exchange.fromUnits) }
}

const viaUnitsOf = ({ execution }: Readonly<{ execution: Guarded }>): bigint =>
  present(execution.sourceOrderedUnits, `what the first leg of ${execution.id} gave for the ordered amount`)

function measure(
  { deps }: GuardedPosition,
  assetId: AssetId,
  currentUnits: bigint,
  quotedUnits: bigint,
  toleratedUnits = 0n,
): PriceMove {
  const { priceMovePercent } = deps.settings.guards
  const distance = absolute(currentUnits - quotedUnits)
  return {
    ...{ assetId, quotedUnits, currentUnits, allowedPercent: String(priceMovePercent) },
    movePercent: `${currentUnits < quotedUnits ? '-' : ''}${percentOf(distance, quotedUnits)}`,
    isFar: (distance - toleratedUnits) * 100n > quotedUnits * BigInt(priceMovePercent),
  }
}

/** With two decimals, rounded up: what is above the limit is never shown as the limit. */
const percentOf = (units: bigint, whole: bigint): string => formatUnits(scale(units, 10_000n, whole, 'up'), 2)
