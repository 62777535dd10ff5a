import { Ready, routes } from '@swapyard/schema'
import { afterEach, expect, test } from 'vitest'
import type { Book } from '../../../src/core/domain/book.ts'
import { bookParts, btc, eth, makeBook, NOW, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createBookSnapshot } from '../../../src/exchange/quotes/book-snapshot.ts'
import { createReadiness } from '../../../src/exchange/quotes/readiness.ts'
import { createTestApp, type TestApp } from './app-for-tests.ts'

const full = makeBook(bookParts)
const apps: TestApp[] = []
afterEach(async () => {
  for (const { app } of apps.splice(0)) await app.close()
})

/** A process with three currencies and this book, whose readiness is that of the program. */
function start(part: Partial<Book>) {
  const books = createBookSnapshot({ ...full, ...part })
  const readiness = createReadiness({
    currencies: [btc, eth, usdt],
    networks: ['btc', 'eth'],
    books,
    feed: { lists: () => true },
    findPrivateFailure: () => null,
    now: () => NOW,
  })
  const testApp = createTestApp()
  apps.push(testApp)
  Object.assign(testApp.services, { readiness })
  return {
    replace: books.replace,
    async read() {
      const answer = await testApp.app.inject({ url: '/health/ready' })
      return [answer.statusCode, answer.json().reasons ?? []]
    },
  }
}

const without = <Value>(map: ReadonlyMap<string, Value>, ...keys: string[]) =>
  new Map([...map].filter(([key]) => !keys.includes(key))) as never
const prices = (...missing: string[]): Partial<Book> => ({
  prices: { ...full.prices, usd: without(full.prices.usd, ...missing) },
})
const reserves = (...missing: string[]): Partial<Book> => ({
  reserves: { ...full.reserves, available: without(full.reserves.available, ...missing) },
})
/** The node of ethereum has not stated the fee of a payment in these currencies. */
const fees = (...missing: string[]): Partial<Book> => ({
  fees: new Map(
    [...full.fees].map(([network, one]) => [
      network,
      { ...one, payoutFeeUnits: without(one.payoutFeeUnits, ...missing) },
    ]),
  ) as Book['fees'],
})

test('one currency without a price, or without a reserve, does not keep a process out of service', async () => {
  expect(await start(prices('usdt')).read()).toEqual([200, []])
  expect(await start(reserves('usdt@eth')).read()).toEqual([200, []])
})

test('no price at all, and reserves on one network only, do', async () => {
  expect(await start(prices('usdt', 'eth', 'btc')).read()).toEqual([503, ['prices are out of date']])
  expect(await start(reserves('btc@btc')).read()).toEqual([
    503,
    ['fewer than 2 networks have funds: send funds to the hot wallet addresses'],
  ])
})

test('a direction that its node keeps from being quoted delays the first readiness, and ends none', async () => {
  const { read, replace } = start(fees('usdt@eth'))
  expect(await read()).toEqual([503, ['the network eth does not answer: retry later']])
  replace(fees())
  expect(await read()).toEqual([200, []])
  replace(fees('usdt@eth'))
  expect(await read()).toEqual([200, []])
  replace({ ...fees(), ...prices('usdt') })
  expect(await read()).toEqual([200, []])
  replace({ ...prices(), ...reserves('usdt@eth') })
  expect(await read()).toEqual([200, []])
  replace({ ...reserves(), ...fees('usdt@eth', 'eth@eth', 'btc@btc') })
  expect(await read()).toEqual([
    503,
    ['no pair can be quoted: prices are out of date, networks are paused, or their nodes do not answer'],
  ])
})

test('the document claims no more than that: one direction, not every one', () => {
  const { description, success } = routes.getReady
  const { description: ofSchema } = Ready as typeof Ready & { description: string }
  for (const text of [description, success[200].description, ofSchema]) {
    expect(text).toMatch(/at least one direction/)
    expect(text).not.toMatch(/200 once every|^every/i)
  }
  expect(description).toMatch(/first time.*a price.*reserve/)
})
