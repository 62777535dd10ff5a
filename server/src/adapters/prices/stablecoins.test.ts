import { describe, expect, test } from 'vitest'
import type { Dropped } from './collect-prices.ts'
import { createMedianPrices } from './median.ts'
import type { PriceSource, QuoteCurrency, SourcePrice } from './price-source.ts'

const NOW = 1_800_000_000_000

/** Dollars × 10^12 of decimal text. */
const units = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}
type Row = readonly [priceKey: string, bid: string, ask: string, ageMs?: number]

const source = (id: string, quoteCurrency: QuoteCurrency, rows: readonly Row[]): PriceSource => ({
  id,
  read: async () =>
    rows.map(
      ([priceKey, bid, ask, ageMs = 0]): SourcePrice => ({
        ...{ priceKey, quoteCurrency, at: NOW - ageMs },
        price: { bid: units(bid), ask: units(ask) },
      }),
    ),
})

function combine(sources: readonly PriceSource[], quorum = 2) {
  const dropped: string[] = []
  const onDropped = ({ source: id, reason, priceKey }: Dropped) => dropped.push(`${id} ${priceKey} ${reason}`)
  return { prices: createMedianPrices({ sources, quorum, now: () => NOW, onDropped }), dropped }
}

const tether = (bid: string, ask: string): readonly PriceSource[] => [
  source('kraken', 'usd', [['usdt', bid, ask]]),
  source('bitstamp', 'usd', [['usdt', bid, ask]]),
]

describe('a price in a stablecoin', () => {
  test('T54: is multiplied by its dollar price, so that a stablecoin at 0.90 moves no other price', async () => {
    const { prices, dropped } = combine([
      source('kraken', 'usd', [
        ['usdt', '0.9', '0.9002'],
        ['btc', '63000', '63010'],
      ]),
      source('bitstamp', 'usd', [['usdt', '0.8999', '0.9001']]),
      // 70 000 USDT at 0.90 are 63 000 dollars.
      source('binance', 'usdt', [
        ['btc', '70000', '70001'],
        ['usdc', '1.1110', '1.1112'],
      ]),
      source('okx', 'usdt', [
        ['btc', '70002', '70003'],
        ['usdc', '1.1110', '1.1113'],
      ]),
    ])
    const { usd } = await prices.read()
    expect(usd.get('usdt')).toEqual({ bid: units('0.8999'), ask: units('0.9002') })
    // 70 000 × 0.8999 = 62 993, 70 003 × 0.9002 = 63 016.7006.
    expect(usd.get('btc')).toEqual({ bid: units('62993'), ask: units('63016.7006') })
    // 1.1110 × 0.8999 = 0.9997889, 1.1113 × 0.9002 = 1.00039226.
    expect(usd.get('usdc')).toEqual({ bid: units('0.9997889'), ask: units('1.00039226') })
    expect(dropped).toEqual([])
  })

  test('is dropped while fewer than the quorum agree on the dollar price of the stablecoin', async () => {
    const btc = [
      source('binance', 'usdt', [['btc', '70000', '70001']]),
      source('okx', 'usdt', [['btc', '70000', '70001']]),
    ]
    const alone = combine([source('kraken', 'usd', [['usdt', '1', '1.0001']]), ...btc])
    await expect(alone.prices.read()).rejects.toMatchObject({ code: 'RATES_UNAVAILABLE' })
    expect(alone.dropped).toEqual(['binance btc unconverted', 'okx btc unconverted'])
    const apart = [
      source('kraken', 'usd', [['usdt', '1', '1.0001']]),
      source('bitstamp', 'usd', [['usdt', '0.9', '0.9001']]),
    ]
    await expect(combine([...apart, ...btc]).prices.read()).rejects.toMatchObject({ code: 'RATES_UNAVAILABLE' })
  })

  test('states no price of the stablecoin that it is quoted in, however many sources say so', async () => {
    const circular = ['binance', 'okx', 'kucoin'].map((id) =>
      source(id, 'usdt', [
        ['usdt', '1', '1'],
        ['btc', '64000', '64001'],
      ]),
    )
    await expect(combine(circular).prices.read()).rejects.toMatchObject({ code: 'RATES_UNAVAILABLE' })
  })

  test('is rounded against the customer, at the smallest and the largest prices', async () => {
    const rows: readonly Row[] = [
      // 0.00000402 × 0.9991 = 0.000004016382 exactly; 0.00000403 × 0.9993 = 0.000004027179 exactly.
      ['pepe', '0.00000402', '0.00000403'],
      // 0.000000012345 × 0.9991 = 0.0000000123338895, × 0.9993 = 0.0000000123363585.
      ['shib', '0.000000012345', '0.000000012345'],
      ['big', '999999999', '999999999'],
    ]
    const { usd } = await combine([
      ...tether('0.9991', '0.9993'),
      source('binance', 'usdt', rows),
      source('okx', 'usdt', rows),
    ]).prices.read()
    expect(usd.get('pepe')).toEqual({ bid: 4_016_382n, ask: 4_027_179n })
    expect(usd.get('shib')).toEqual({ bid: 12_333n, ask: 12_337n })
    expect(usd.get('big')).toEqual({ bid: units('999099999.0009'), ask: units('999299999.0007') })
  })

  test('is as old as the dollar price of the stablecoin, if that is older', async () => {
    const { prices } = combine([
      source('kraken', 'usd', [['usdt', '1', '1.0001', 4_000]]),
      source('bitstamp', 'usd', [['usdt', '1', '1.0001', 3_000]]),
      source('binance', 'usdt', [['btc', '70000', '70001', 1_000]]),
      source('okx', 'usdt', [['btc', '70000', '70001', 500]]),
    ])
    const { times } = await prices.read()
    expect(Object.fromEntries(times)).toEqual({ usdt: NOW - 4_000, btc: NOW - 4_000 })
  })

  test('is dropped if its book is absurd, crossed or empty, also after it is multiplied', async () => {
    const { prices, dropped } = combine([
      ...tether('0.985', '1.0039'),
      // 1.9 % apart, and 3.9 % in dollars.
      source('binance', 'usdt', [
        ['btc', '64000', '65216'],
        ['eth', '3000', '3000'],
        ['ltc', '0', '0'],
        ['doge', '0.2', '0.1'],
      ]),
      source('okx', 'usdt', [['eth', '3000', '3000']]),
    ])
    // 3 000 × 0.985 and 3 000 × 1.0039.
    expect((await prices.read()).usd.get('eth')).toEqual({ bid: units('2955'), ask: units('3011.7') })
    expect(dropped).toEqual(['binance ltc implausible', 'binance doge implausible', 'binance btc implausible'])
  })
})

describe('a source', () => {
  test('that states some prices only, or repeats an old one, ages and ends those alone', async () => {
    const { prices } = combine([
      source('kraken', 'usd', [
        ['btc', '64000', '64001', 500],
        ['eth', '3000', '3001', 500],
        ['ltc', '90', '90.1', 500],
      ]),
      source('bitstamp', 'usd', [
        ['btc', '64000', '64001', 1_000],
        ['eth', '3000', '3001', 29_000],
        ['ltc', '90', '90.1', 30_001],
      ]),
      source('bitfinex', 'usd', [['btc', '64000', '64001', 29_000]]),
    ])
    const { usd, times } = await prices.read()
    expect([...usd.keys()]).toEqual(['btc', 'eth'])
    // Two sources state 64 000 of that time or later: the third widens the price and does not age it.
    expect(Object.fromEntries(times)).toEqual({ btc: NOW - 1_000, eth: NOW - 29_000 })
  })

  test('is reported for each price that it is known to state and does not', async () => {
    const btc = source('kraken', 'usd', [['btc', '64000', '64001']])
    const { prices, dropped } = combine([{ ...btc, priceKeys: ['btc', 'aero'] }], 1)
    await prices.read()
    expect(dropped).toEqual(['kraken aero missing'])
  })

  test('has one vote per price, however often it states it', async () => {
    const twice = source('kraken', 'usd', [
      ['btc', '64000', '64001'],
      ['btc', '64000', '64001'],
    ])
    await expect(combine([twice]).prices.read()).rejects.toMatchObject({ code: 'RATES_UNAVAILABLE' })
  })

  test('loses its stale pairs one by one, by its own limit if it has one', async () => {
    const rows: readonly Row[] = [
      ['btc', '64000', '64001', 10_000],
      ['eth', '3000', '3001', 10_001],
    ]
    const { prices, dropped } = combine(
      [{ ...source('okx', 'usd', rows), maxAgeMs: 10_000 }, source('document', 'usd', rows)],
      1,
    )
    const { usd } = await prices.read()
    expect([...usd.keys()]).toEqual(['btc', 'eth'])
    expect(dropped).toEqual(['okx eth stale'])
  })
})
