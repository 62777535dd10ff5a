import { expect, it } from 'vitest'
import { book, btc, makeCurrency, usdt } from '../domain/pricing.fixture.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { createListCurrencies } from './list-currencies.ts'

const closed = makeCurrency('eth', 'eth', { decimals: 18, enabled: false, rank: 0 })
const unpriced = makeCurrency('doge', 'doge', { rank: 9 })

function start() {
  const books = createBookSnapshot(book)
  const list = createListCurrencies({ currencies: [unpriced, btc, usdt, closed], books })
  return { books, list, states: () => list().map(({ asset, enabled }) => `${asset.id} ${enabled}`) }
}

it('lists by rank, disabled without catalogue entry or price', () => {
  expect(start().states()).toEqual(['eth@eth false', 'btc@btc true', 'usdt@eth true', 'doge@doge false'])
})

it('follows pauses of networks and of assets', () => {
  const { books, states } = start()
  books.replace({ pauses: { networks: new Set(['btc']), assets: new Set(['usdt@eth']) } })
  expect(states()).toEqual(['eth@eth false', 'btc@btc false', 'usdt@eth false', 'doge@doge false'])
  books.replace({ pauses: { networks: new Set(), assets: new Set() } })
  expect(states()).toEqual(['eth@eth false', 'btc@btc true', 'usdt@eth true', 'doge@doge false'])
})

it('computes the list once per book', () => {
  const { list } = start()
  expect(list()).toBe(list())
})
