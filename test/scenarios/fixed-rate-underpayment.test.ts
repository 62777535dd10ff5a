import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFixedRateExchange, raiseBitcoinPrice } from '../support/fixed-rate.ts'
import { createMovablePrices } from '../support/prices.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { expectRefund } from '../support/scenario-reads.ts'

const prices = createMovablePrices()
let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'], prices })
})
afterAll(() => scenario.stop())

test('pays a deposit that is 2 % too small pro rata of the quote if the market is unchanged', async () => {
  const [recipient, refundWallet] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixedRateExchange(scenario, recipient.address, refundWallet.address)
  await scenario.deposit(exchange, '0.392')
  await scenario.waitForStatus(exchange, 'finished')
  const proRata = (parseUnits(exchange.request.amountToRequested, 8) * 98n) / 100n
  expect(parseUnits(await scenario.balance('btc@btc', recipient.address), 8)).toBe(proRata)
  await scenario.checkInvariants()
})

test('refunds a deposit that is 2 % too small if the market is outside the tolerance', async () => {
  const [recipient, refundWallet] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixedRateExchange(scenario, recipient.address, refundWallet.address)
  await raiseBitcoinPrice(scenario, prices, 5n)
  await expectRefund(
    scenario,
    { currency: 'eth@eth', amount: '0.392', address: refundWallet.address, decimals: 18 },
    async () => {
      await scenario.deposit(exchange, '0.392')
      const { exchanges } = await scenario.waitForStatus(exchange, 'refunded')
      expect(exchanges[0].statusReason).toBe('OUTSIDE_TOLERANCE')
    },
  )
  await scenario.checkInvariants()
})
