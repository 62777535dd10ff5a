import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { currencies } from '../../../../currencies/index.ts'
import { exchangeIds, exchanges } from './index.ts'

const priceKeys = [...new Set(currencies.map(({ priceKey }) => priceKey))].toSorted()
const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/guides/operate.md'), 'utf8')
const [, section = ''] = /^### Price sources\n(.*?)^### /ms.exec(guide) ?? []
const covers = (id: (typeof exchangeIds)[number], key: string): boolean => Object.hasOwn(exchanges[id].symbols, key)
const countOf = (key: string): number => exchangeIds.filter((id) => covers(id, key)).length

/** The table of docs/guides/operate.md: one row for all keys that the same exchanges quote. */
function renderTable(): readonly string[] {
  const rows = Map.groupBy(priceKeys, (key) => exchangeIds.map((id) => (covers(id, key) ? 'yes' : '–')).join(' | '))
  const lines = [...rows]
    .toSorted(([, a], [, b]) => countOf(b[0] ?? '') - countOf(a[0] ?? ''))
    .map(([cells, keys]) => `| ${keys.join(', ')} | ${cells} | ${countOf(keys[0] ?? '')} |`)
  return [
    `| price of | ${exchangeIds.join(' | ')} | sources |`,
    `|---|${exchangeIds.map(() => '---|').join('')}---|`,
    ...lines,
  ]
}

test('T54: docs/guides/operate.md lists the exchanges that have a price of each currency', () => {
  expect(section.split('\n').filter((line) => line.startsWith('|'))).toEqual(renderTable())
})

test('T54: every currency has two exchanges or more, except those that the guide names', () => {
  const short = priceKeys.filter((key) => countOf(key) < 2)
  expect(short).toEqual(['btcb', 'cbbtc', 'eurc'])
  for (const key of short) expect(section).toContain(`\`${key}\``)
})

test('T54: any three of Kraken, Bitstamp, Bitfinex and one exchange in USDT reach a quorum of two for the major coins', () => {
  const majors = ['btc', 'eth', 'ltc', 'doge', 'bch', 'sol', 'xrp', 'xlm', 'usdc', 'link', 'uni', 'aave']
  for (const key of majors)
    for (const left of ['kraken', 'bitstamp', 'bitfinex', 'binance'] as const) {
      const others = (['kraken', 'bitstamp', 'bitfinex', 'binance'] as const).filter((id) => id !== left)
      expect(others.filter((id) => covers(id, key)).length, `${key} without ${left}`).toBeGreaterThanOrEqual(2)
    }
})

test.each(exchangeIds)('%s has symbols of listed currencies only, each once', (id) => {
  const { symbols, quoteCurrency } = exchanges[id]
  expect(Object.keys(symbols).filter((key) => !priceKeys.includes(key))).toEqual([])
  expect(new Set(Object.values(symbols)).size).toBe(Object.keys(symbols).length)
  // A pair of a stablecoin with itself would state that it is worth one.
  expect(symbols).not.toHaveProperty([quoteCurrency])
})

/** The quote currency at the end of each symbol, as the exchanges write them. */
test.each([
  ['kraken', /^[A-Z]{1,8}Z?USD$/],
  ['bitstamp', /^[A-Z]{2,8}\/USD$/],
  ['bitfinex', /^t([A-Z]{3}|[A-Z]{4,8}:)USD$/],
  ['binance', /^[A-Z]{1,8}USDT$/],
  ['okx', /^[A-Z]{1,8}-USDT$/],
  ['kucoin', /^[A-Z]{1,8}-USDT$/],
] as const)('every symbol of %s ends in its quote currency', (id, form) => {
  const { symbols, quoteCurrency } = exchanges[id]
  expect(Object.values(symbols).filter((symbol) => !form.test(symbol))).toEqual([])
  expect(form.source.toLowerCase()).toContain(quoteCurrency)
})

/** From the documentation that each file names. */
test('every exchange is asked at its documented URL', () => {
  expect(Object.fromEntries(exchangeIds.map((id) => [id, exchanges[id].url]))).toEqual({
    kraken: 'https://api.kraken.com/0/public/Ticker',
    bitstamp: 'https://www.bitstamp.net/api/v2/ticker/',
    bitfinex: 'https://api-pub.bitfinex.com/v2/tickers?symbols=ALL',
    binance: 'https://api.binance.com/api/v3/ticker/bookTicker',
    okx: 'https://www.okx.com/api/v5/market/tickers?instType=SPOT',
    kucoin: 'https://api.kucoin.com/api/v1/market/allTickers',
  })
})
