import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Currency } from '../../../src/core/domain/currency.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createChooseIntermediary } from '../../../src/exchange/quotes/choose-intermediary.ts'
import { COIN, ETHER, ltc, market, partnerId } from '../money-path.ts'
import { SMALL, startPrivateMoneyPath, plan as usual } from './private-money-path.ts'

/*
 * What a quote names as the least and the most is taken and paid, to the unit, however much is withheld between the legs.
 */

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
  replaceBook()
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

/** Of the targets so little that no limit of a payment is met. */
const reserves = { ...market.reserves, 'btc@btc': COIN / 7n, 'eth@eth': 3n * ETHER + 1n }
const replaceBook = (prices = market.prices) =>
  fixture.books.replace(makeBook({ ...market, prices, reserves, at: Date.now() + 3_600_000 }))

type Ends = Readonly<{ from: Currency; via: Currency; to: Currency }>
const pairs: readonly Ends[] = [
  { from: btc, via: ltc, to: eth },
  { from: btc, via: eth, to: ltc },
  { from: eth, via: ltc, to: btc },
  { from: ltc, via: btc, to: eth },
]
const nameOf = ({ from, via, to }: Ends) => [from, via, to].map(({ asset }) => asset.ticker).join(' → ')
const fakeOf = ({ network }: Currency) => fixture.fakes[network.id as keyof typeof fixture.fakes]

const partner = {
  id: partnerId,
  name: 'p',
  feeBps: 10,
  suspended: false,
  openExchangesMax: 100,
  rateLimitPerMinute: 1,
  strict: false,
  defaultRecipients: new Map(),
}
/** As quotes name them: of three networks, the third is the only way. */
function boundsOf({ from, via, to }: Ends): Readonly<{ min: bigint; max: bigint }> {
  const { books, clock, chains } = fixture.shared
  const privacy = { delayMaxMs: 0, withheldMaxPpm: 10_000, stallMs: 1 }
  const chooseIntermediary = createChooseIntermediary({ currencies: [via], books, clock, chains, privacy })
  const { minUnits, maxUnits } = chooseIntermediary(partner, { from, to }, 'efficient', SMALL).quote
  return { min: minUnits, max: maxUnits ?? 0n }
}

/** The fixture's own deposits go by bitcoin or ether alone. */
async function pay(ends: Ends, units: bigint, withheldPpm: number): Promise<Exchange> {
  const exchange = await fixture.order({ ...ends, fromUnits: units, plan: { ...usual, withheldPpm } })
  fakeOf(ends.from).pay(exchange.deposit.address, units, { sender: 'payer' })
  return exchange
}

describe('private exchanges of exactly', () => {
  test.each(['min', 'max'] as const)('what is named as %s are paid', async (bound) => {
    const made: (readonly [Ends, Exchange])[] = []
    for (const ends of pairs)
      for (const withheldPpm of [1_000, 10_000]) made.push([ends, await pay(ends, boundsOf(ends)[bound], withheldPpm)])
    await fixture.blocks(16)
    for (const [ends, exchange] of made) {
      expect(await fixture.status(exchange), nameOf(ends)).toBe('finished')
      expect(fakeOf(ends.to).paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
    }
  })

  const moves = [995n, 1_005n].flatMap((to) => [
    { to, when: 'before the deposit counts', legs: 0 },
    { to, when: 'between the legs', legs: 2 },
  ])
  test.each(moves)('the most are paid where the intermediary is worth $to thousandths $when', async ({ to, legs }) => {
    const made: (readonly [Ends, Exchange])[] = []
    for (const ends of pairs.filter(({ via }) => via === ltc))
      made.push([ends, await pay(ends, boundsOf(ends).max, 5_000)])
    for (const [, exchange] of made)
      for (let n = 0; n < 10 && (await fixture.executions(exchange)).length < legs; n++) await fixture.blocks(1)
    const move = (units = 0n) => (units * to) / 1_000n
    const { bid, ask } = market.prices['ltc'] ?? {}
    replaceBook({ ...market.prices, ltc: { bid: move(bid), ask: move(ask) } })
    await fixture.blocks(14)
    replaceBook()
    for (const [ends, exchange] of made) expect(await fixture.status(exchange), nameOf(ends)).toBe('finished')
  })
})

describe('a deposit that the first leg alone would take goes back from it where for the whole way it is', () => {
  /** What the first leg would take if nothing came after it. */
  const ownBounds = ({ from, via }: Ends) => {
    const { minUnits, maxUnits } = fixture.books.price(
      { from, to: via, flow: 'standard', partnerFeeBps: 0 },
      Date.now(),
    )
    return { min: minUnits, max: maxUnits ?? 0n }
  }
  /** Ether costs less to send than bitcoin, and litecoin is there in plenty. */
  const across = { from: eth, via: ltc, to: btc }
  const cases: readonly (readonly [string, string, () => bigint])[] = [
    ['too small', 'BELOW_MIN', () => (ownBounds(across).min + boundsOf(across).min) / 2n],
    // By a tenth: far below the limit of one payment.
    ['too large', 'ABOVE_MAX', () => (boundsOf(across).max * 11n) / 10n],
  ]
  test.each(cases)('%s', async (_size, reason, unitsOf) => {
    const units = unitsOf()
    const [own, whole] = [ownBounds(across), boundsOf(across)]
    expect(units > own.min && units < own.max && (units < whole.min || units > whole.max)).toBe(true)
    // Something else was asked for, which the whole way takes: what a create accepted is never too small later.
    const exchange = await fixture.order({ ...across, fromUnits: ETHER, plan: usual })
    fixture.fakes.eth.pay(exchange.deposit.address, units, { sender: 'payer' })
    await fixture.blocks(8)
    expect((await fixture.executions(exchange)).map((one) => [one.leg, one.status, one.reason])).toEqual([
      [0, 'refunded', reason],
    ])
    expect((await fixture.payouts(exchange)).map(({ purpose }) => purpose)).toEqual(['refund'])
    // All of it but one network fee.
    const back = fixture.fakes.eth.paidTo(exchange.refund?.address ?? '').map((paid) => paid.units)
    expect(back).toEqual([units - 210_000_000_000_000n])
  })
})
