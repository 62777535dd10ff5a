import { toSignificant } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import type { FixedStock, Reserves } from '../../core/domain/book.ts'
import { largest } from '../../lib/bigint.ts'

/** With more digits, the change of a reserve would show the amount of a single exchange, also of a private one. */
const DIGITS = 2

/**
 * The reserves from which everything is computed that a partner or a stranger can see or test: the rates feed, the bounds of
 * quotes, pairs and creates. Each reserve is rounded down to two digits in its own units, before any price is applied: a
 * maximum rounded in units of the source would step at another reserve for each source and each price, and all of them
 * together would show the reserve again. Unpaid fixed-rate promises are rounded up apart from it, because a partner can
 * create and cancel them without a payment, and would otherwise move the reserve until it steps.
 */
export function publishReserves({ at, available, promised, fixed }: Reserves): Reserves {
  const stocks = fixed && new Map([...fixed].map(([id, stock]) => [id, publishStock(stock)]))
  const units = [...available].map(([id, exact]): [AssetId, bigint | null] => [
    id,
    exact === null ? null : publishUnits(exact, stocks?.get(id)),
  ])
  const published = new Map(units)
  return {
    ...{ at, available: published },
    ...(promised ? { promised: publishPromised(promised, available, published) } : {}),
    ...(stocks ? { fixed: stocks } : {}),
  }
}

/** The limits of payouts are no secret; where the reserve is the bound, it stays rounded. */
function publishPromised(
  promised: ReadonlyMap<AssetId, bigint>,
  available: Reserves['available'],
  published: Reserves['available'],
): ReadonlyMap<AssetId, bigint> {
  return new Map(
    [...promised].map(([id, units]) => {
      const [exact, rounded] = [available.get(id) ?? null, published.get(id) ?? null]
      return [id, exact === null || rounded === null || units < exact ? units : rounded]
    }),
  )
}

const publishStock = ({ freeUnits, heldUnits, heldByPartner }: FixedStock): FixedStock => ({
  freeUnits: toSignificant(freeUnits, 'down', DIGITS),
  heldUnits: toSignificant(heldUnits, 'up', DIGITS),
  heldByPartner,
})

/** Never more than the exact reserve, which is less than its stock if the largest payout limits it. */
function publishUnits(exactUnits: bigint, stock: FixedStock | undefined): bigint {
  const leftUnits = stock === undefined ? null : largest(stock.freeUnits - stock.heldUnits, 0n)
  return leftUnits === null || leftUnits > exactUnits ? toSignificant(exactUnits, 'down', DIGITS) : leftUnits
}
