import { lastInclusion, TOLERANCE_PERCENT, WORST_PERCENT } from '../../exchange/domain/terms.ts'
import type { StepContext } from '../../exchange/ports/store/steps.ts'
import { fixedRateOf, type MarketDeps } from '../../exchange/settlement/steps/context.ts'
import { measureHeld, measurePrices, type PriceMove } from '../../exchange/settlement/steps/price-guard.ts'
import { present } from '../../lib/assert.ts'
import { coinsOrNull } from './coins.ts'
import type { ReadContext } from './read.ts'

type Part = Readonly<Record<string, unknown>>

/** The limits of what the quote promises, and what the price guard found and finds. */
export async function readGuards({ store, deps: { market } }: ReadContext, id: string, parts: readonly Part[]) {
  const context = present(await store.store.steps.load(id, null), `exchange ${id}`)
  const { exchange, acceptedMaxUnits } = context
  const fixed = fixedRateOf(exchange)
  return {
    fixedUntil: fixed?.until ?? null,
    // Of a payment that was first seen at the end of the lock.
    includedBy: fixed === null ? null : lastInclusion(fixed),
    tolerancePercent: fixed === null ? null : TOLERANCE_PERCENT,
    leastPercent: fixed === null ? null : WORST_PERCENT,
    maxAmount: coinsOrNull(acceptedMaxUnits, exchange.legs[0]?.from.id),
    price: {
      allowedPercent: market === null ? null : String(market.settings.guards.priceMovePercent),
      whenHeld: parts.flatMap((part) => toHold(part, parts)),
      now: market === null ? null : listNow(context, market),
    },
  }
}

/** An event with which the price guard held a deposit; those of earlier versions have no amounts. */
function toHold({ what, event, reason, at, detail, execution_id: executionId }: Part, parts: readonly Part[]) {
  const { assetId, quotedUnits, currentUnits, ...percent } = (detail ?? {}) as Part
  if (what !== 'event' || event !== 'held' || reason !== 'PRICE_GUARD' || quotedUnits === undefined) return []
  const execution = parts.find((part) => part['what'] === 'execution' && part['id'] === executionId)
  return [
    {
      ...{ at, deposit: execution?.['deposit'] ?? null, currency: assetId, ...percent },
      ...{ quoted: coinsOrNull(quotedUnits, assetId), current: coinsOrNull(currentUnits, assetId) },
    },
  ]
}

/** Comparisons at current prices for what is not converted yet, or for the first deposit; null = no current price. */
function listNow({ exchange, executions }: StepContext, deps: MarketDeps) {
  const context = { exchange }
  // Without a listing there is nothing to compare, and the exchange is shown nevertheless.
  if (!exchange.legs.every(({ from, to }) => deps.currencyOf(from.id) && deps.currencyOf(to.id))) return []
  const waiting = executions.filter(
    ({ status, order, leg, sourceOrderedUnits }) =>
      ['confirming', 'exchanging', 'verifying'].includes(status) &&
      order?.state !== 'filled' &&
      (leg === 0 || sourceOrderedUnits !== null),
  )
  if (waiting.length > 0)
    return waiting.flatMap((execution) => toMoves(measureHeld({ deps, context, execution }), execution.deposit.id))
  if (executions.length > 0 || exchange.status !== 'pending') return []
  const execution = { id: exchange.id, leg: 0, sourceOrderedUnits: null }
  return toMoves(measurePrices({ deps, context, execution }), null)
}

/** Without a current price there is a row that says so. */
function toMoves(
  moves: readonly PriceMove[] | null,
  deposit: string | null,
): readonly Readonly<Record<string, unknown>>[] {
  if (moves === null) return [{ deposit, currency: null, quoted: null, current: null, movePercent: null, isFar: null }]
  return moves.map(({ assetId, quotedUnits, currentUnits, movePercent, isFar }) => ({
    ...{ deposit, currency: assetId, movePercent, isFar },
    ...{ quoted: coinsOrNull(quotedUnits, assetId), current: coinsOrNull(currentUnits, assetId) },
  }))
}
