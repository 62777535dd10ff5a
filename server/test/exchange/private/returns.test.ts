import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { ltc, market } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

/** The target's reserve is empty, so that second legs return. */
const setBook = (changes: Partial<typeof market> = {}) =>
  fixture.books.replace(
    makeBook({
      ...{ ...market, reserves: { ...market.reserves, 'eth@eth': 10n ** 12n }, ...changes },
      at: Date.now() + 3_600_000,
    }),
  )
const listAlarms = async () => (await fixture.store.alarms.list(100)).map(({ subject }) => subject)

describe('the alarm about a return that lacks the reserve of its source coin', () => {
  let exchange: Exchange
  /** The execution of the second leg. */
  let id: string
  beforeEach(async () => {
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    exchange = await fixture.createExchange({ via: ltc, plan, fromUnits: SMALL })
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    setBook()
    await fixture.store.transaction(async (tx) => {
      const free = (await tx.inventory.available()).get('btc@btc') ?? 0n
      await tx.inventory.reserve('others', 'btc@btc', free, exchange.id, null)
    })
    await fixture.mineBlocksUntil(async () => (await listAlarms()).length > 0)
    ;({ id } = await fixture.readExecution(exchange, 1))
    expect(await listAlarms()).toEqual([`return:${id}`])
  })
  afterEach(async () => {
    await fixture.store.inventory.release('others')
  })

  test('ends when the return is paid', async () => {
    await fixture.store.inventory.release('others')
    await fixture.mineBlocks(8)
    expect([await fixture.readStatus(exchange), await listAlarms()]).toEqual(['refunded', []])
  })

  test('ends when the price guard holds the return, and none is left after the operator has closed it', async () => {
    setBook({ prices: { ...market.prices, ltc: { bid: 130n * 10n ** 12n, ask: 130n * 10n ** 12n } } })
    await fixture.runJobs()
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ status: 'verifying', reason: 'PRICE_GUARD' })
    expect(await listAlarms()).toEqual([`held:${id}`])
    await fixture.decide(exchange, 'fail')
    await fixture.runJobs()
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ status: 'failed', reason: 'OPERATOR' })
    expect(await listAlarms()).toEqual([])
  })

  test('ends when the network fee leaves nothing to return', async () => {
    setBook({ fees: { ...market.fees, btc: { native: btc, units: { 'btc@btc': SMALL } } } })
    await fixture.runJobs()
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ status: 'failed', reason: 'DUST' })
    expect(await listAlarms()).toEqual([])
  })
})
