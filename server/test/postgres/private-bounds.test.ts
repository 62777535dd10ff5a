import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Currency } from '../../src/domain/currency.ts'
import type { Exchange } from '../../src/domain/exchange.ts'
import { btc, eth, makeBook } from '../../src/domain/pricing.fixture.ts'
import { quoteLegs } from '../../src/domain/way.ts'
import { SMALL, startPrivateSpine, plan as usual } from './private-spine.ts'
import { COIN, ETHER, ltc, market } from './spine.ts'

/*
 * What a quote names as the least and the most is taken and paid, to the unit, however much is withheld between the legs.
 */

let spine: Awaited<ReturnType<typeof startPrivateSpine>>
beforeAll(async () => {
  spine = await startPrivateSpine()
  // Of the targets so little that no limit of a payment is met.
  const reserves = { ...market.reserves, 'btc@btc': COIN / 7n, 'eth@eth': 3n * ETHER + 1n }
  spine.books.replace(makeBook({ ...market, reserves, at: Date.now() + 3_600_000 }))
})
afterAll(() => spine.close())
afterEach(() => spine.balanced())

type Ends = Readonly<{ from: Currency; via: Currency; to: Currency }>
const ways: readonly Ends[] = [
  { from: btc, via: ltc, to: eth },
  { from: btc, via: eth, to: ltc },
  { from: eth, via: ltc, to: btc },
  { from: ltc, via: btc, to: eth },
]
const nameOf = ({ from, via, to }: Ends) => [from, via, to].map(({ asset }) => asset.ticker).join(' → ')
const fakeOf = ({ network }: Currency) => spine.fakes[network.id as keyof typeof spine.fakes]

function boundsOf({ from, via, to }: Ends): Readonly<{ min: bigint; max: bigint }> {
  const leg = (a: Currency, b: Currency, partnerFeeBps: number) =>
    spine.books.price({ from: a, to: b, flow: 'standard', partnerFeeBps }, Date.now())
  const { minUnits, maxUnits } = quoteLegs(leg(from, via, 0), leg(via, to, 10), SMALL)
  return { min: minUnits, max: maxUnits ?? 0n }
}

/** The spine's own deposits go by bitcoin or ether alone. */
async function pay(ends: Ends, units: bigint, withheldPpm: number): Promise<Exchange> {
  const exchange = await spine.order({ ...ends, fromUnits: units, plan: { ...usual, withheldPpm } })
  fakeOf(ends.from).pay(exchange.deposit.address, units, { sender: 'payer' })
  return exchange
}

describe('private exchanges of exactly', () => {
  test.each(['min', 'max'] as const)('what is named as %s are paid', async (bound) => {
    const made: (readonly [Ends, Exchange])[] = []
    for (const ends of ways)
      for (const withheldPpm of [1_000, 10_000]) made.push([ends, await pay(ends, boundsOf(ends)[bound], withheldPpm)])
    await spine.blocks(16)
    for (const [ends, exchange] of made) {
      expect(await spine.status(exchange), nameOf(ends)).toBe('finished')
      expect(fakeOf(ends.to).paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
    }
  })
})
