import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Flow } from '../domain/exchange.ts'
import type { PairPricing } from '../domain/pricing.ts'
import type { ExchangeServices } from '../interfaces.ts'
import type { BookSnapshot } from './book-snapshot.ts'
import type { QuoteClock } from './quote-rate.ts'

type Deps = Readonly<{ currencies: readonly Currency[]; books: BookSnapshot; clock: QuoteClock }>

/** The directions that the book prices now, with the flows of each. From memory: the book keeps what it has priced. */
export function createListPairs({ currencies, books, clock }: Deps): ExchangeServices['listPairs'] {
  return ({ id, feeBps }, includes) => {
    const now = clock.now()
    const price = (from: Currency, to: Currency, flow: Flow): PairPricing | null => {
      try {
        return books.price({ from, to, flow, partnerFeeBps: feeBps, partnerId: id }, now)
      } catch (error) {
        if (error instanceof AppError && error.kind !== 'bug') return null
        throw error
      }
    }
    const open = currencies.filter(({ enabled }) => enabled)
    return open.flatMap((from) =>
      open.flatMap((to) => {
        const floating = from !== to && includes(from.asset, to.asset) ? price(from, to, 'standard') : null
        if (floating === null) return []
        const isFixed = price(from, to, 'fixed-rate') !== null
        const { minUnits, maxUnits } = floating
        const flows: readonly Flow[] = isFixed ? ['standard', 'fixed-rate'] : ['standard']
        return [{ from: from.asset, to: to.asset, flows, minUnits, maxUnits }]
      }),
    )
  }
}
