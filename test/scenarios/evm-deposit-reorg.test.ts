import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { callNode } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { waitForItems } from '../support/scenario-reads.ts'

// A reorganisation of a sandbox EVM chain drops all transactions of its blocks, so no other scenario uses this network.
const network = 'sei'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: [network, 'btc'] })
})
afterAll(() => scenario.stop())

test('executes an EVM deposit once if it leaves the chain and returns', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'sei@sei', to: 'btc@btc', amount: '1000', address })
  const wallet = await fundEvmWallet(scenario, network, '2000')
  await whileMiningPaused(scenario, network, async () => {
    const payment = wallet.pay(exchange.request.depositAddress, '1000')
    await scenario.waitForStatus(exchange, 'confirming')
    await scenario.mine(network, 1)
    const raw = await callNode(network, 'eth_getRawTransactionByHash', [await payment])
    await waitForItems(scenario, exchange, 1, 'confirming')
    // The reorganisation drops the transaction; the sender broadcasts it again.
    await scenario.reorg(network, 1)
    await waitForItems(scenario, exchange, 1, 'pending')
    await callNode(network, 'eth_sendRawTransaction', [raw])
  })
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
