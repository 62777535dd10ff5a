import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('the quoted amount is paid at the fixed rate and the excess at the live one', async () => {
  const { address } = await scenario.wallet('btc')
  const { rateId } = await scenario.rate('eth@eth', 'btc@btc', '0.4', 'fixed-rate')
  const exchange = await scenario.create({
    from: 'eth@eth',
    to: 'btc@btc',
    amount: '0.4',
    flow: 'fixed-rate',
    rateId,
    address,
  })
  const live = await scenario.rate('eth@eth', 'btc@btc', '0.1')
  await scenario.deposit(exchange, '0.5')
  await scenario.settles(exchange, 'finished')
  // The excess travels in the same payout: it bears no network fee of its own.
  const excess = parseUnits(live.toAmount.toFixed(8), 8) + parseUnits(live.fees.network, 8)
  expect(parseUnits(await scenario.balance('btc@btc', address), 8)).toBe(
    parseUnits(exchange.request.amountToRequested, 8) + excess,
  )
  await scenario.invariants()
})
