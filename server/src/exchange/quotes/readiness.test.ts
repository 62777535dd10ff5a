import { expect, test } from 'vitest'
import type { Book } from '../../core/domain/book.ts'
import { bookParts, btc, eth, makeBook, NOW, usdt } from '../domain/pricing.fixture.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { readiness } from './readiness.ts'

const currencies = [btc, eth, usdt]
const quoteNothing = 'nothing can be quoted: no network answers, or all of them stand still'

function reasons(part: Partial<Book> = {}, { now = NOW, networks = ['btc', 'eth'] } = {}) {
  const books = createBookSnapshot({ ...makeBook(bookParts), ...part })
  return readiness({ currencies, networks, books, now })
}
const book = makeBook(bookParts)
/** Fees that were read so long ago, on these networks; those of the others are current. */
const feesOf = (ageMs: number, ...networks: string[]) =>
  new Map(
    [...book.fees].map(([network, fees]) => [
      network,
      networks.includes(network) ? { ...fees, at: NOW - ageMs } : fees,
    ]),
  )

test('a house with coins, prices and nodes is ready', () => {
  expect(reasons()).toEqual([])
})

test('one whose nodes answer no more is not: prices of fees are good for two minutes', () => {
  expect(reasons({ fees: feesOf(120_000, 'btc', 'eth') })).toEqual([])
  expect(reasons({ fees: feesOf(120_001, 'btc', 'eth') })).toEqual([quoteNothing])
  expect(reasons({ fees: new Map() })).toEqual([quoteNothing])
})

test('one network alone is no direction, where there are more', () => {
  expect(reasons({ fees: feesOf(120_001, 'btc') })).toEqual([quoteNothing])
  const alone = {
    ...book.reserves,
    available: new Map([['eth@eth', 10n ** 20n] as const, ['usdt@eth', 10n ** 12n] as const]),
  }
  expect(reasons({ reserves: alone }, { networks: ['eth'] })).toEqual([])
})

test('one that stands still altogether is not', () => {
  expect(reasons({ pauses: { networks: new Set(['btc', 'eth']), assets: new Set() } })).toEqual([quoteNothing])
  expect(reasons({ pauses: { networks: new Set(), assets: new Set(['usdt@eth']) } })).toEqual([])
})

test('without prices, reserves or coins it says so', () => {
  expect(reasons({}, { now: NOW + 30_001 })).toEqual(['there are no current prices'])
  expect(reasons({}, { now: NOW + 60_001 })).toEqual(['there are no current prices', 'the reserves are not known'])
  expect(reasons({ reserves: { at: NOW, available: new Map() } })).toEqual([
    'the hot wallets are empty: bring coins to their addresses',
  ])
})
