import { expect, test } from 'vitest'
import type { Book } from '../../core/domain/book.ts'
import { bookParts, btc, eth, makeBook, NOW, usdt } from '../domain/pricing.fixture.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { readiness } from './readiness.ts'

const currencies = [btc, eth, usdt]
const quotesNothing = 'no pair can be quoted: networks are paused, or their nodes do not answer'

function reasons(part: Partial<Book> = {}, { now = NOW, networks = ['btc', 'eth'] } = {}) {
  const books = createBookSnapshot({ ...makeBook(bookParts), ...part })
  return readiness({ currencies, networks, books, now })
}
const book = makeBook(bookParts)
/** Fees of these networks are `ageMs` old, those of others current. */
const feesOf = (ageMs: number, ...networks: string[]) =>
  new Map(
    [...book.fees].map(([network, fees]) => [
      network,
      networks.includes(network) ? { ...fees, at: NOW - ageMs } : fees,
    ]),
  )

test('is ready with funds, prices and nodes', () => {
  expect(reasons()).toEqual([])
})

test('is not ready with fee rates older than two minutes', () => {
  expect(reasons({ fees: feesOf(120_000, 'btc', 'eth') })).toEqual([])
  expect(reasons({ fees: feesOf(120_001, 'btc', 'eth') })).toEqual([quotesNothing])
  expect(reasons({ fees: new Map() })).toEqual([quotesNothing])
})

test('needs two networks if there are several', () => {
  expect(reasons({ fees: feesOf(120_001, 'btc') })).toEqual([quotesNothing])
  const alone = {
    ...book.reserves,
    available: new Map([['eth@eth', 10n ** 20n] as const, ['usdt@eth', 10n ** 12n] as const]),
  }
  expect(reasons({ reserves: alone }, { networks: ['eth'] })).toEqual([])
})

test('is not ready if all networks are paused', () => {
  expect(reasons({ pauses: { networks: new Set(['btc', 'eth']), assets: new Set() } })).toEqual([quotesNothing])
  expect(reasons({ pauses: { networks: new Set(), assets: new Set(['usdt@eth']) } })).toEqual([])
})

test('states missing prices, reserves and funds', () => {
  expect(reasons({}, { now: NOW + 30_001 })).toEqual(['prices are out of date'])
  expect(reasons({}, { now: NOW + 60_001 })).toEqual(['prices are out of date', 'reserves are out of date'])
  expect(reasons({ reserves: { at: NOW, available: new Map() } })).toEqual([
    'fewer than 2 networks have funds: send funds to the hot wallet addresses',
  ])
})
