import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefund } from '../support/facts.ts'
import { createMovablePrices } from '../support/prices.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'

const prices = createMovablePrices()
let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'], prices })
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

test('two percent less while the market stands: pro rata of the quote', async () => {
  const [to, back] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixed(to.address, back.address)
  await scenario.deposit(exchange, '0.392')
  await scenario.settles(exchange, 'finished')
  const proRata = (parseUnits(exchange.request.amountToRequested, 8) * 98n) / 100n
  expect(parseUnits(await scenario.balance('btc@btc', to.address), 8)).toBe(proRata)
  await scenario.invariants()
})

test('two percent less after the market has left the quote: the money goes back', async () => {
  const [to, back] = [await scenario.wallet('btc'), await scenario.wallet('eth')]
  const exchange = await createFixed(to.address, back.address)
  await raiseBitcoin(5n)
  await expectRefund(
    scenario,
    { currency: 'eth@eth', amount: '0.392', address: back.address, quoteFrom: 'btc@btc', decimals: 18 },
    async () => {
      await scenario.deposit(exchange, '0.392')
      const { exchanges } = await scenario.settles(exchange, 'refunded')
      expect(exchanges[0].statusReason).toBe('OUTSIDE_TOLERANCE')
    },
  )
  await scenario.invariants()
})
