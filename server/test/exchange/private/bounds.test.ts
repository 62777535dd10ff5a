import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Currency } from '../../../src/core/domain/currency.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createChooseIntermediary } from '../../../src/exchange/quotes/choose-intermediary.ts'
import { COIN, ETHER, ltc, market, partnerId } from '../money-path.ts'
import { plan as defaultPlan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

/*
 * The bounds of a private quote are exact to the unit, at any withheld share: deposits of exactly the minimum or the maximum
 * are paid.
 */

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
  replaceBook()
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

/** Target reserves so small that the limit per payment does not apply. Their published figures leave one unit of them. */
const reserves = { ...market.reserves, 'btc@btc': (14n * COIN) / 100n + 1n, 'eth@eth': 3n * ETHER + 1n }
const replaceBook = (prices = market.prices) =>
  fixture.books.replace(makeBook({ ...market, prices, reserves, at: Date.now() + 3_600_000 }))

type Route = Readonly<{ from: Currency; via: Currency; to: Currency }>
const routes: readonly Route[] = [
  { from: btc, via: ltc, to: eth },
  { from: btc, via: eth, to: ltc },
  { from: eth, via: ltc, to: btc },
  { from: ltc, via: btc, to: eth },
]
const nameOf = ({ from, via, to }: Route) => [from, via, to].map(({ asset }) => asset.ticker).join(' → ')
const fakeOf = ({ network }: Currency) => fixture.fakes[network.id as keyof typeof fixture.fakes]

const partner = {
  id: partnerId,
  name: 'p',
  feeBps: 10,
  suspended: false,
  openExchangesMax: 100,
  rateLimitPerMinute: 1,
  strict: false,
  refundToSender: false,
  defaultRecipients: new Map(),
}
/** The bounds of the quote. Of three networks, the third is the only possible intermediary. */
function readQuotedBounds({ from, via, to }: Route): Readonly<{ min: bigint; max: bigint }> {
  const { books, clock, chains } = fixture.dependencies
  const privacy = { delayMaxMs: 0, withheldMaxPpm: 10_000, payoutMaxPpm: 0, stallMs: 1 }
  const chooseIntermediary = createChooseIntermediary({ currencies: [via], books, clock, chains, privacy })
  const { minUnits, maxUnits } = chooseIntermediary(partner, { from, to }, 'efficient', SMALL).quote
  return { min: minUnits, max: maxUnits ?? 0n }
}

/** Creates and pays an exchange. `payDeposit` of the fixture cannot pay in litecoin. */
async function payExchange(route: Route, units: bigint, withheldPpm: number): Promise<Exchange> {
  const exchange = await fixture.createExchange({ ...route, fromUnits: units, plan: { ...defaultPlan, withheldPpm } })
  fakeOf(route.from).pay(exchange.deposit.address, units, { sender: 'payer' })
  return exchange
}

describe('private exchanges', () => {
  test.each(['min', 'max'] as const)('of exactly the quoted %s are paid', async (bound) => {
    const exchanges: (readonly [Route, Exchange])[] = []
    for (const route of routes)
      for (const withheldPpm of [1_000, 10_000])
        exchanges.push([route, await payExchange(route, readQuotedBounds(route)[bound], withheldPpm)])
    await fixture.mineBlocks(16)
    for (const [route, exchange] of exchanges) {
      expect(await fixture.readStatus(exchange), nameOf(route)).toBe('finished')
      expect(fakeOf(route.to).listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
    }
  })

  const moves = [995n, 1_005n].flatMap((to) => [
    { to, when: 'before the deposit is credited', legs: 0 },
    { to, when: 'between the legs', legs: 2 },
  ])
  test.each(moves)(
    'of the maximum are paid when the intermediary moves to $to/1000 of its price $when',
    async ({ to, legs }) => {
      const exchanges: (readonly [Route, Exchange])[] = []
      for (const route of routes.filter(({ via }) => via === ltc))
        exchanges.push([route, await payExchange(route, readQuotedBounds(route).max, 5_000)])
      for (const [, exchange] of exchanges)
        for (let n = 0; n < 10 && (await fixture.listExecutions(exchange)).length < legs; n++)
          await fixture.mineBlocks(1)
      const scalePrice = (units = 0n) => (units * to) / 1_000n
      const { bid, ask } = market.prices['ltc'] ?? {}
      replaceBook({ ...market.prices, ltc: { bid: scalePrice(bid), ask: scalePrice(ask) } })
      await fixture.mineBlocks(14)
      replaceBook()
      for (const [route, exchange] of exchanges)
        expect(await fixture.readStatus(exchange), nameOf(route)).toBe('finished')
    },
  )
})

describe('a deposit within the bounds of the first leg is refunded if for the whole route it is', () => {
  /** The bounds of the first leg as a standard exchange. */
  const readFirstLegBounds = ({ from, via }: Route) => {
    const { minUnits, maxUnits } = fixture.books.price(
      { from, to: via, flow: 'standard', partnerFeeBps: 0 },
      Date.now(),
    )
    return { min: minUnits, max: maxUnits ?? 0n }
  }
  /** Ether costs less to send than bitcoin, and the litecoin reserve is large. */
  const route = { from: eth, via: ltc, to: btc }
  const cases: readonly (readonly [string, string, () => bigint])[] = [
    ['too small', 'BELOW_MIN', () => (readFirstLegBounds(route).min + readQuotedBounds(route).min) / 2n],
    // Above by 10 %, and far below the limit of one payment.
    ['too large', 'ABOVE_MAX', () => (readQuotedBounds(route).max * 11n) / 10n],
  ]
  test.each(cases)('%s', async (_size, reason, unitsOf) => {
    const units = unitsOf()
    const [firstLeg, wholeRoute] = [readFirstLegBounds(route), readQuotedBounds(route)]
    expect(units > firstLeg.min && units < firstLeg.max && (units < wholeRoute.min || units > wholeRoute.max)).toBe(
      true,
    )
    // The create requests an amount within the bounds. A requested amount is never too small later.
    const exchange = await fixture.createExchange({ ...route, fromUnits: ETHER, plan: defaultPlan })
    fixture.fakes.eth.pay(exchange.deposit.address, units, { sender: 'payer' })
    await fixture.mineBlocks(8)
    expect((await fixture.listExecutions(exchange)).map((one) => [one.leg, one.status, one.reason])).toEqual([
      [0, 'refunded', reason],
    ])
    expect((await fixture.listPayouts(exchange)).map(({ purpose }) => purpose)).toEqual(['refund'])
    // The whole deposit less one network fee.
    const refundedUnits = fixture.fakes.eth.listPayments(exchange.refund?.address ?? '').map((payment) => payment.units)
    expect(refundedUnits).toEqual([units - 210_000_000_000_000n])
  })
})
