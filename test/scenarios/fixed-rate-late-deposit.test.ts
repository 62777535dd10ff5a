import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFixedRateExchange, raiseBitcoinPrice } from '../support/fixed-rate.ts'
import { createMovablePrices } from '../support/prices.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'
import { expectRefund } from '../support/scenario-reads.ts'

const prices = createMovablePrices()
let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'], prices, settings: { fixedLockMs: 1 } })
})
afterAll(() => scenario.stop())

/** Blocks have times in whole seconds: a payment in the second in which the lock ends is in time. */
const waitForEndOfLock = ({ fixedUntil }: Json): Promise<unknown> =>
  scenario.until('the lock has ended', async () => Date.now() > Date.parse(fixedUntil) + 1_000)

test('pays a late deposit at the quote if the market is better', async () => {
  const [recipient, refundWallet] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixedRateExchange(scenario, recipient.address, refundWallet.address)
  await waitForEndOfLock(exchange)
  await scenario.deposit(exchange, '0.4')
  await scenario.waitForStatus(exchange, 'finished')
  expect(await scenario.balance('btc@btc', recipient.address)).toBe(exchange.request.amountToRequested)
  await scenario.checkInvariants()
})

test('pays a late deposit at the market if the market is slightly worse', async () => {
  const [recipient, refundWallet] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixedRateExchange(scenario, recipient.address, refundWallet.address)
  await raiseBitcoinPrice(scenario, prices, 2n)
  const { toAmount } = await scenario.rate('eth@eth', 'btc@btc', '0.4')
  expect(toAmount).toBeLessThan(Number(exchange.request.amountToRequested))
  await waitForEndOfLock(exchange)
  await scenario.deposit(exchange, '0.4')
  await scenario.waitForStatus(exchange, 'finished')
  expect(Number(await scenario.balance('btc@btc', recipient.address))).toBe(toAmount)
  await scenario.checkInvariants()
})

test('refunds a late deposit if the market is outside the tolerance', async () => {
  const [recipient, refundWallet] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixedRateExchange(scenario, recipient.address, refundWallet.address)
  await raiseBitcoinPrice(scenario, prices, 7n)
  await expectRefund(
    scenario,
    { currency: 'eth@eth', amount: '0.4', address: refundWallet.address, decimals: 18 },
    async () => {
      await waitForEndOfLock(exchange)
      await scenario.deposit(exchange, '0.4')
      const { exchanges } = await scenario.waitForStatus(exchange, 'refunded')
      expect(exchanges[0].statusReason).toBe('OUTSIDE_TOLERANCE')
    },
  )
  expect(await scenario.balance('btc@btc', recipient.address)).toBe('0')
  await scenario.checkInvariants()
})
