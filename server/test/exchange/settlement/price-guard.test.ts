import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { price } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
let whole: ReturnType<typeof path.books.current>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 10n * COIN, eth: 10n * ETHER })
  whole = path.books.current()
})
afterAll(() => path.close())
beforeEach(() => path.books.replace(whole))
afterEach(() => path.expectBalanced())

const PAID = COIN / 25n
/** 0.04 BTC for an ether, less half a percent. */
const create = () => path.createExchange({ fromUnits: PAID, toUnits: (995n * ETHER) / 1_000n })
const setEtherPrice = (usd: string) =>
  path.books.replace({ prices: { ...whole.prices, usd: new Map([...whole.prices.usd, ['eth', price(usd, usd)]]) } })
const payAndConfirm = async (exchange: Exchange) => {
  path.payDeposit(exchange, PAID)
  await path.mineBlocks(5)
}

describe('the price guard', () => {
  // 4 000 dollars per ether at the create.
  test.each(['3580', '4480'])('holds a floating conversion at %s dollars, more than 10 % away', async (usd) => {
    const exchange = await create()
    setEtherPrice(usd)
    await payAndConfirm(exchange)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'PRICE_GUARD' })
    expect(await path.listAlarmKinds()).toContain('held')
    path.books.replace(whole)
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
  })

  test.each(['3680', '4360'])('lets one at %s dollars pass, less than 10 % away', async (usd) => {
    const exchange = await create()
    setEtherPrice(usd)
    await payAndConfirm(exchange)
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
  })

  test('executes at the market if the operator releases it', async () => {
    const exchange = await create()
    setEtherPrice('4800')
    await payAndConfirm(exchange)
    await path.decide(exchange, 'release')
    await path.runJobs()
    const { rateKind, dueUnits } = await path.readExecution(exchange)
    expect(rateKind).toBe('floating')
    // 4 000 dollars of bitcoin at 4 800 dollars per ether, less the spread.
    expect(dueUnits).toBeGreaterThan((82n * ETHER) / 100n)
    expect(dueUnits).toBeLessThan((84n * ETHER) / 100n)
  })

  test('refunds if the operator decides so', async () => {
    const exchange = await create()
    setEtherPrice('4800')
    await payAndConfirm(exchange)
    await path.decide(exchange, 'refund')
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'refunding', reason: 'OPERATOR' })
  })
})
