import { afterAll, beforeAll, test } from 'vitest'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { belowMin, expectRefund } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('coin of an EVM network goes back to who signed the payment', async () => {
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4' })
  const amount = await belowMin(scenario, 'eth@eth', 'btc@btc', 18)
  const wallet = await fundEvmWallet(scenario, 'eth', '1')
  await wallet.pay(exchange.request.depositAddress, amount)
  await expectRefund(
    scenario,
    { currency: 'eth@eth', amount, address: wallet.address, quoteFrom: 'btc@btc', decimals: 18 },
    () => scenario.settles(exchange, 'refunded'),
  )
  await scenario.invariants()
})
