import type { Asset } from '../../core/domain/asset.ts'
import type { Book } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { midPrice, usdValue } from '../../core/domain/price.ts'
import type { Exchange, Leg } from '../domain/exchange.ts'
import { secondsOf as confirmationSeconds, privateDelaySeconds } from '../domain/expected-time.ts'
import { isIntermediary } from '../domain/intermediary.ts'
import type { ExchangeServices, Expectations } from '../interfaces.ts'
import { type PrivacySettings, requiredConfirmations } from '../settings.ts'

type Dependencies = Readonly<{
  /** Listed currencies with the network parameters in force. */
  currencies: readonly Currency[]
  books: Readonly<{ current(): Book }>
  privacy: Pick<PrivacySettings, 'delayMaxMs'>
}>

/** Estimates for responses, from data in memory. No decision about money uses them. */
export function createExpectations({ currencies, books, privacy }: Dependencies): ExchangeServices['expectations'] {
  const byId = new Map(currencies.map((currency) => [currency.asset.id, currency]))
  const delaySeconds = privateDelaySeconds(privacy.delayMaxMs)

  /** For the requested amount at the current price; the deposit's own value decides later. */
  const confirmationsOf = ({ legs: [first], fromUnits }: Pick<Exchange, 'legs' | 'fromUnits'>): number | null => {
    const from = first && byId.get(first.from.id)
    if (!from) return null
    const price = books.current().prices.usd.get(from.definition.priceKey)
    const usd = price === undefined ? null : usdValue(fromUnits, from.asset, midPrice(price), 'down')
    return requiredConfirmations(from.network.confirmations, from.network.finalityBlocks, usd)
  }

  const payoutSeconds = ({ to }: Leg): number | null => {
    const network = byId.get(to.id)?.network
    return network === undefined ? null : confirmationSeconds(network, network.confirmations)
  }

  const depositSeconds = ({ from }: Leg, confirmations: number | null): number | null => {
    const network = byId.get(from.id)?.network
    return network === undefined || confirmations === null ? null : confirmationSeconds(network, confirmations)
  }

  const secondsOf: Expectations['secondsOf'] = ({ type, legs }, confirmations) => {
    const [first] = legs
    const parts = [first ? depositSeconds(first, confirmations) : null, ...legs.map(payoutSeconds)]
    return sumOf(type === 'private' ? [...parts, delaySeconds] : parts)
  }

  /** Whatever the type: a time that only Monero takes would name it. Null if nothing is listed that could carry the pair. */
  const slowestIntermediarySeconds = (ends: readonly Asset[]): number | null => {
    const networks = currencies.filter(isIntermediary).map(({ network }) => network)
    const seconds = networks
      .filter(({ id }) => ends.every(({ network }) => network !== id))
      .map((network) => confirmationSeconds(network, network.confirmations))
    return seconds.length === 0 ? null : Math.max(...seconds)
  }

  return {
    confirmationsOf,
    secondsOf,
    secondsOfLeg: ({ type, legs }, leg, confirmations) =>
      sumOf([
        depositSeconds(leg, confirmations),
        payoutSeconds(leg),
        type === 'private' ? Math.ceil(delaySeconds / legs.length) : 0,
      ]),
    payerSecondsOf: ({ exchange, current }) => {
      const { type, legs, estimate } = exchange
      const confirmations = current?.confirmations.required ?? estimate?.confirmations ?? null
      if (type === 'standard')
        return current === null ? (estimate?.seconds ?? null) : secondsOf(exchange, confirmations)
      const [first, last] = [legs[0], legs.at(-1)]
      if (first === undefined || last === undefined) return null
      const between = slowestIntermediarySeconds([first.from, last.to])
      return sumOf([depositSeconds(first, confirmations), between, payoutSeconds(last), delaySeconds])
    },
  }
}

/** Null if a part is unknown. */
function sumOf(parts: readonly (number | null)[]): number | null {
  return parts.reduce((total, part) => (total === null || part === null ? null : total + part), 0)
}
