import { expect, test } from 'vitest'
import type { Book } from '../../core/domain/book.ts'
import { AppError } from '../../core/domain/errors.ts'
import { bookParts, btc, eth, makeBook, NOW, usdt } from '../domain/pricing.fixture.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import type { FindPrivateFailure } from './choose-intermediary.ts'
import { createReadiness } from './readiness.ts'

const currencies = [btc, eth, usdt]
const quotesNothing = 'no pair can be quoted: prices are out of date, networks are paused, or their nodes do not answer'
const book = makeBook(bookParts)

type Change = Readonly<{
  now?: number
  networks?: readonly string[]
  lists?: (from: string, to: string) => boolean
  findPrivateFailure?: FindPrivateFailure
}>

/** A process with the given book. `replace` changes its book. */
function start(part: Partial<Book> = {}, change: Change = {}) {
  const books = createBookSnapshot({ ...book, ...part })
  const { now = NOW, networks = ['btc', 'eth'], lists = () => true, findPrivateFailure = () => null } = change
  const readiness = createReadiness({
    currencies,
    networks,
    books,
    feed: { lists },
    findPrivateFailure,
    now: () => now,
  })
  return { readiness, replace: books.replace }
}
const reasons = (part: Partial<Book> = {}, change: Change = {}) => start(part, change).readiness()

/** Fees of these networks are `ageMs` old, those of others current. */
const feesOf = (ageMs: number, ...networks: string[]) =>
  new Map(
    [...book.fees].map(([network, fees]) => [
      network,
      networks.includes(network) ? { ...fees, at: NOW - ageMs } : fees,
    ]),
  )
const paused = (...networks: string[]) => ({ pauses: { networks: new Set(networks), assets: new Set<never>() } })

test('is ready with funds, prices, nodes and a complete feed', () => {
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
  const others = { reserves: alone, fees: feesOf(120_001, 'btc'), ...paused('btc') }
  expect(reasons(others, { networks: ['eth'] })).toEqual([])
})

test('is not ready if all networks are paused', () => {
  expect(reasons(paused('btc', 'eth'))).toEqual([quotesNothing])
  expect(reasons({ pauses: { networks: new Set(), assets: new Set(['usdt@eth']) } })).toEqual([])
})

test('states missing prices, reserves and funds', () => {
  expect(reasons({}, { now: NOW + 30_001 })).toEqual(['prices are out of date'])
  expect(reasons({}, { now: NOW + 60_001 })).toEqual(['prices are out of date', 'reserves are out of date'])
  expect(reasons({ reserves: { at: NOW, available: new Map() } })).toEqual([
    'fewer than 2 networks have funds: send funds to the hot wallet addresses',
  ])
})

test('waits for every enabled direction, not for one that works', () => {
  // usdt@eth has no fee rate yet, while btc ↔ eth works.
  const withoutUsdt = new Map(
    [...book.fees].map(([network, fees]) => [
      network,
      { ...fees, payoutFeeUnits: new Map([...fees.payoutFeeUnits].filter(([id]) => id !== 'usdt@eth')) },
    ]),
  )
  expect(reasons({ fees: withoutUsdt })).toEqual(['the network eth does not answer: retry later'])
  expect(reasons({ fees: withoutUsdt, pauses: { networks: new Set(), assets: new Set(['usdt@eth']) } })).toEqual([])
})

test('waits until the rates feed lists every enabled direction', () => {
  const lists = (from: string, to: string) => !(from === 'usdt@eth' && to === 'btc@btc')
  expect(reasons({}, { lists })).toEqual(['the rates feed does not list every direction yet'])
})

test('does not wait for a direction that lacks reserves', () => {
  const available = new Map([...book.reserves.available].filter(([id]) => id !== 'usdt@eth'))
  const lists = (_from: string, to: string) => to !== 'usdt@eth'
  expect(reasons({ reserves: { at: NOW, available } }, { lists })).toEqual([])
})

test('waits for private quotes of both types that fail for a passing reason', () => {
  const asked: string[] = []
  const failing =
    (code: 'NETWORK_UNAVAILABLE' | 'PAIR_UNAVAILABLE'): FindPrivateFailure =>
    ({ from, to }, type) => {
      asked.push(`${from.asset.id} ${to.asset.id} ${type}`)
      return type === 'privatePlus' ? new AppError(code, 'no intermediary is available now: retry later') : null
    }
  expect(reasons({}, { findPrivateFailure: failing('NETWORK_UNAVAILABLE') })).toEqual([
    'private exchanges (privatePlus): no intermediary is available now: retry later',
  ])
  expect(asked).toContain('btc@btc eth@eth privatePlus')
  expect(asked).toContain('btc@btc eth@eth efficient')
  expect(asked.filter((one) => one.startsWith('eth@eth usdt@eth'))).toEqual([])
  expect(reasons({}, { findPrivateFailure: failing('PAIR_UNAVAILABLE') })).toEqual([])
})

test('stays ready when one network fails later, and not when all fail', () => {
  const later = start({ pauses: { networks: new Set(), assets: new Set() } }, { networks: ['btc', 'eth', 'ltc'] })
  expect(later.readiness()).toEqual([])
  later.replace({ pauses: { networks: new Set(), assets: new Set(['usdt@eth']) } })
  expect(later.readiness()).toEqual([])
  later.replace({ fees: feesOf(120_001, 'btc', 'eth') })
  expect(later.readiness()).toEqual([quotesNothing])
})

test('a stale price ends the directions of its currency alone, at the start and later', () => {
  const staleFor = (...keys: string[]) => ({
    prices: {
      ...book.prices,
      times: new Map([...book.prices.times].map(([key, time]) => [key, keys.includes(key) ? time - 30_001 : time])),
    },
  })
  const lists = (from: string, to: string) => ![from, to].includes('usdt@eth')
  expect(reasons({}, { lists })).toEqual(['the rates feed does not list every direction yet'])
  expect(reasons(staleFor('usdt'), { lists })).toEqual([])
  // Fees on Ethereum are in ether: nothing there has an amount. Bitcoin alone has no direction.
  expect(reasons(staleFor('eth'))).toEqual([quotesNothing])
  expect(reasons(staleFor('btc', 'eth', 'usdt', 'shib'))).toEqual(['prices are out of date'])
  const later = start()
  expect(later.readiness()).toEqual([])
  later.replace(staleFor('usdt'))
  expect(later.readiness()).toEqual([])
  later.replace(staleFor('btc'))
  expect(later.readiness()).toEqual([quotesNothing])
})
