import { expect, it } from 'vitest'
import { book, btc, makeCurrency, usdt } from '../domain/pricing.fixture.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { createListCurrencies } from './list-currencies.ts'

const closed = makeCurrency('eth', 'eth', { decimals: 18, enabled: false, rank: 0 })
const unpriced = makeCurrency('doge', 'doge', { rank: 9 })

function start() {
  const books = createBookSnapshot(book)
  const list = createListCurrencies({ currencies: [unpriced, btc, usdt, closed], books })
  return { books, list, open: () => list().map(({ asset, enabled }) => `${asset.id} ${enabled}`) }
}

it('lists by rank, enabled as the catalogue and the prices say', () => {
  expect(start().open()).toEqual(['eth@eth false', 'btc@btc true', 'usdt@eth true', 'doge@doge false'])
})

it('follows pauses of networks and of assets', () => {
  const { books, open } = start()
  books.replace({ pauses: { networks: new Set(['btc']), assets: new Set(['usdt@eth']) } })
  expect(open()).toEqual(['eth@eth false', 'btc@btc false', 'usdt@eth false', 'doge@doge false'])
  books.replace({ pauses: { networks: new Set(), assets: new Set() } })
  expect(open()).toEqual(['eth@eth false', 'btc@btc true', 'usdt@eth true', 'doge@doge false'])
})

it('is computed once per book', () => {
  const { list } = start()
  expect(list()).toBe(list())
})
