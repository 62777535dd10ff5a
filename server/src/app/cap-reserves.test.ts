import { expect, test } from 'vitest'
import { pricesAt } from '../core/domain/price.ts'
import { bookParts, btc, eth, NOW, usd, usdt } from '../exchange/domain/pricing.fixture.ts'
import { capReserves } from './cap-reserves.ts'

const prices = pricesAt(NOW, new Map(Object.entries(bookParts.prices)))
const limits = {
  perTransactionUsd: usd('101000'),
  hourUsd: usd('404000'),
  dayUsd: usd('404000'),
  partnerPercent: 25,
  networkPercent: 100,
  recipientPercent: 25,
}
const available = new Map([
  ['btc@btc', 10n ** 10n],
  ['eth@eth', 10n ** 19n],
  ['usdt@eth', 10n ** 12n],
] as const)
const cap = (signerLimits: Parameters<typeof capReserves>[1]['signerLimits'] = new Map(), shares = {}) =>
  capReserves(available, { prices, currencies: [btc, eth, usdt], limits: { ...limits, ...shares }, signerLimits })

test('a reserve promises no payout that the limits hold after the price has moved by 1 %', () => {
  // 100 000 dollars at the ask of 100 010, and of 1.0001; 10 ETH at 4 001 are less.
  expect(cap()).toEqual(
    new Map([
      ['btc@btc', 99_990_000n],
      ['eth@eth', 10n ** 19n],
      ['usdt@eth', 99_990_000_999n],
    ]),
  )
})

test.each(['partnerPercent', 'networkPercent', 'recipientPercent'])(
  'a reserve promises no payout above %s',
  (share) => {
    // A tenth of 100 000 dollars × 4.
    expect(cap(new Map(), { [share]: 10 }).get('usdt@eth')).toBe(39_996_000_399n)
  },
)

test("a reserve promises no payout above the signer's limits, less 1 %", () => {
  const limit = { hour: 10n ** 20n, day: 10n ** 20n }
  const capped = cap(
    new Map([
      ['btc@btc', { ...limit, transaction: 50_500_000n }],
      ['eth@eth', { ...limit, transaction: 10n ** 20n }],
    ]),
  )
  expect(capped.get('btc@btc')).toBe(50_000_000n)
  expect(capped.get('eth@eth')).toBe(10n ** 19n)
})

test('an asset without a price promises nothing', () => {
  const { usd: all, times } = prices
  const without = { usd: new Map([...all].filter(([key]) => key !== 'btc')), times }
  const capped = capReserves(available, { prices: without, currencies: [btc, eth], limits, signerLimits: new Map() })
  expect([...capped.keys()]).toEqual(['eth@eth'])
})
