import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefund } from '../support/facts.ts'
import { createMovablePrices } from '../support/prices.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'

const prices = createMovablePrices()
let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'], prices, settings: { fixedLockMs: 1 } })
})
afterAll(() => scenario.stop())

async function createFixed(address: string, refundAddress: string): Promise<Json> {
  const { rateId } = await scenario.rate('eth@eth', 'btc@btc', '0.4', 'fixed-rate')
  return scenario.create({
    from: 'eth@eth',
    to: 'btc@btc',
    amount: '0.4',
    flow: 'fixed-rate',
    rateId,
    address,
    refundAddress,
  })
}

/** Bitcoin becomes dearer by so many percent; waits until that is what a quote says. */
async function raiseBitcoin(percent: bigint): Promise<void> {
  const before = (await scenario.rate('eth@eth', 'btc@btc', '0.4')).toAmount
  prices.move('btc', percent)
  await scenario.until(
    'the quote has moved',
    async () => (await scenario.rate('eth@eth', 'btc@btc', '0.4')).toAmount !== before,
  )
}

test('the market is better than the quote: the quote is paid', async () => {
  const [to, back] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixed(to.address, back.address)
  await scenario.deposit(exchange, '0.4')
  await scenario.settles(exchange, 'finished')
  expect(await scenario.balance('btc@btc', to.address)).toBe(exchange.request.amountToRequested)
  await scenario.invariants()
})

test('the market is a little worse than the quote: the market is paid', async () => {
  const [to, back] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixed(to.address, back.address)
  await raiseBitcoin(2n)
  const { toAmount } = await scenario.rate('eth@eth', 'btc@btc', '0.4')
  expect(toAmount).toBeLessThan(Number(exchange.request.amountToRequested))
  await scenario.deposit(exchange, '0.4')
  await scenario.settles(exchange, 'finished')
  expect(Number(await scenario.balance('btc@btc', to.address))).toBe(toAmount)
  await scenario.invariants()
})

test('the market has left the quote: the money goes back', async () => {
  const [to, back] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixed(to.address, back.address)
  await raiseBitcoin(7n)
  await expectRefund(
    scenario,
    { currency: 'eth@eth', amount: '0.4', address: back.address, quoteFrom: 'btc@btc', decimals: 18 },
    async () => {
      await scenario.deposit(exchange, '0.4')
      const { exchanges } = await scenario.settles(exchange, 'refunded')
      expect(exchanges[0].statusReason).toBe('OUTSIDE_TOLERANCE')
    },
  )
  expect(await scenario.balance('btc@btc', to.address)).toBe('0')
  await scenario.invariants()
})
