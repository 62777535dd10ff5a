import { AppError } from '../../../core/domain/errors.ts'
import { present } from '../../../lib/assert.ts'
import { type Exchange, endsOf, type Leg } from '../../domain/exchange.ts'
import {
  type Costs,
  type Pair,
  type PairPricing,
  priceDirection,
  pricePair,
  priceReturn,
} from '../../domain/pricing.ts'
import type { Act, MarketDeps } from './context.ts'

type Priced = Readonly<{ deps: MarketDeps; context: Pick<Act['context'], 'exchange'> }>

/** Current floating price of a leg, with the exact reserve: what the create accepted must not fail by the rounding of a quote. */
export function pricingOf(
  { deps, context: { exchange } }: Priced,
  leg: Leg,
  ownUnits = 0n,
  isAccepted = false,
): PairPricing {
  const pair = { ...pairOf(deps, exchange, leg), isAccepted }
  return pricePair(deps.books.current(), pair, deps.clock.now(), ownUnits)
}

/** Reference rate and costs of a leg now, whatever the reserve of its target is. Null = no current price. */
export function referenceOf(
  { deps, context: { exchange } }: Priced,
  leg: Leg,
): Pick<PairPricing, 'rate' | 'networkUnits'> | null {
  try {
    return priceDirection(deps.books.current(), pairOf(deps, exchange, leg), deps.clock.now())
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** Only the last leg carries the partner fee. */
export const partnerFeeBpsOf = (exchange: Exchange, leg: Leg): number =>
  leg === exchange.legs.at(-1) ? exchange.partnerFeeBps : 0

function pairOf(deps: MarketDeps, exchange: Exchange, leg: Leg): Pair {
  const from = present(deps.currencyOf(leg.from.id), `the listing of ${leg.from.id}`)
  const to = present(deps.currencyOf(leg.to.id), `the listing of ${leg.to.id}`)
  return { from, to, flow: 'standard', partnerFeeBps: partnerFeeBpsOf(exchange, leg) }
}

/**
 * Costs of the conversion of a later leg's deposit back into the source asset, by prices and the fee of the source chain only,
 * so that a paused or unlisted intermediary can still be returned. Null = no current price.
 */
export function costsOfReturn({
  deps,
  context: { exchange },
  execution,
}: Priced & Readonly<{ execution: Pick<Act['execution'], 'deposit'> }>): Costs | null {
  const { assetId } = execution.deposit
  const from = present(assetId === null ? null : deps.currencyOf(assetId), 'the listing of an intermediary')
  const to = present(deps.currencyOf(endsOf(exchange).from.id), 'the listing of a source')
  try {
    return priceReturn(deps.books.current(), from, to, deps.clock.now())
  } catch (error) {
    if (error instanceof AppError && error.retryable) return null
    throw error
  }
}
