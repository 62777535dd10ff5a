import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFixedRateExchange } from '../support/fixed-rate.ts'
import { convertAtLiveRate } from '../support/published-prices.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('pays the quoted amount at the fixed rate and the excess at the live rate', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await createFixedRateExchange(scenario, address)
  await scenario.deposit(exchange, '0.5')
  await scenario.waitForStatus(exchange, 'finished')
  // The excess is part of the same payout, so it has no network fee.
  const excess = convertAtLiveRate('eth@eth', 'btc@btc', parseUnits('0.1', 18))
  expect(parseUnits(await scenario.balance('btc@btc', address), 8)).toBe(
    parseUnits(exchange.request.amountToRequested, 8) + excess,
  )
  await scenario.checkInvariants()
})
