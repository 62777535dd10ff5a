import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeBook, makeCurrency, NOW, price } from '../domain/pricing.fixture.ts'
import type { Chain } from '../ports/chain.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { createChooseForOutput } from './choose-for-output.ts'
import { createChooseIntermediary } from './choose-intermediary.ts'

const partner = {
  ...{ id: 'p', name: 'p', feeBps: 25, suspended: false, openExchangesMax: 1, rateLimitPerMinute: 1, strict: false },
  ...{ refundToSender: false, defaultRecipients: new Map() },
}
const coins = ['btc', 'ltc', 'doge', 'bch', 'xmr'].map((ticker) => makeCurrency(ticker, ticker, { dustUnits: 546n }))
const ether = makeCurrency('eth', 'eth', { decimals: 18 })
const currencies = [...coins, ether]
const chains = new Map(
  currencies.map(({ network: { id } }) => [id, { addresses: { hot: () => `hot ${id}` } } as unknown as Chain]),
)
const dollars = { btc: '96400.5', ltc: '101.7', doge: '0.3837', bch: '512.03', xmr: '160.9', eth: '3601.33' }

function createChoosers(blockTimes: Readonly<Record<string, number>> = {}) {
  const listed = currencies.map((one) => ({
    ...one,
    network: { ...one.network, blockTimeMs: blockTimes[one.asset.ticker] ?? 1_000 },
  }))
  const books = createBookSnapshot(
    makeBook({
      prices: Object.fromEntries(Object.entries(dollars).map(([key, usd]) => [key, price(usd, `${usd}1`)])),
      fees: Object.fromEntries(
        listed.map((native) => [
          native.network.id,
          { native, units: { [native.asset.id]: native === ether ? 10n ** 14n : 3_000n } },
        ]),
      ),
      reserves: Object.fromEntries(listed.map(({ asset }) => [asset.id, 10n ** 30n])),
    }),
  )
  const privacy = { delayMaxMs: 60_000, withheldMaxPpm: 1, payoutMaxPpm: 0, stallMs: 1 }
  const deps = { currencies: listed, books, clock: { now: () => NOW, databaseNow: () => NOW }, chains, privacy }
  const choose = createChooseIntermediary(deps)
  return { listed, choose, chooseFor: createChooseForOutput(deps, choose) }
}

describe('chooseForOutput', () => {
  test('in every direction, is the smallest amount that the forward quote turns into the output', () => {
    const { listed, choose, chooseFor } = createChoosers()
    const pairs = listed.flatMap((from) => listed.flatMap((to) => (from === to ? [] : [{ from, to }])))
    let accepted = 0
    fc.assert(
      fc.property(fc.constantFrom(...pairs), fc.bigInt({ min: 1n, max: 10n ** 21n }), (pair, toUnits) => {
        const { quote, via } = chooseFor(partner, pair, 'efficient', toUnits)
        expect(quote.toUnits).toBeGreaterThanOrEqual(toUnits)
        if (!quote.withinBounds) return
        accepted += 1
        const forward = choose(partner, pair, 'efficient', quote.fromUnits)
        expect([forward.quote.toUnits, forward.via.asset.id]).toEqual([quote.toUnits, via.asset.id])
        expect(choose(partner, pair, 'efficient', quote.fromUnits - 1n).quote.toUnits).toBeLessThan(toUnits)
      }),
      { numRuns: 2_000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })

  // A faster intermediary may give less: the forward quote of the cheapest amount would give less than was requested.
  test('gives at least the output where the create prefers a faster intermediary', () => {
    const { listed, chooseFor } = createChoosers({ ltc: 600_000, doge: 60_000, bch: 3_000_000 })
    const [from, to] = [listed[0], listed[5]]
    if (!from || !to) throw new Error('btc and eth are listed')
    fc.assert(
      fc.property(fc.bigInt({ min: 10n ** 15n, max: 10n ** 21n }), (toUnits) => {
        expect(chooseFor(partner, { from, to }, 'efficient', toUnits).quote.toUnits).toBeGreaterThanOrEqual(toUnits)
      }),
    )
  })

  test('throws the reason if no intermediary serves the pair', () => {
    const { listed, chooseFor } = createChoosers()
    const [from] = listed
    if (!from) throw new Error('btc is listed')
    const failure = expect.objectContaining({ code: 'SAME_CURRENCY' })
    expect(() => chooseFor(partner, { from, to: from }, 'efficient', 1n)).toThrow(failure)
  })
})
