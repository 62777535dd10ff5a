import { afterAll, beforeAll, test } from 'vitest'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { computeAmountBelowMin, expectRefund } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('refunds native EVM currency to the sender if the partner has set refundToSender', async () => {
  await scenario.app.database.query('update partners set refund_to_sender = true')
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4' })
  const amount = await computeAmountBelowMin(scenario, 'eth@eth', 'btc@btc', 18)
  const wallet = await fundEvmWallet(scenario, 'eth', '1')
  await wallet.pay(exchange.request.depositAddress, amount)
  await expectRefund(scenario, { currency: 'eth@eth', amount, address: wallet.address, decimals: 18 }, () =>
    scenario.waitForStatus(exchange, 'refunded'),
  )
  await scenario.checkInvariants()
})
