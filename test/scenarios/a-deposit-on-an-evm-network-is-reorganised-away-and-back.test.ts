import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { items } from '../support/facts.ts'
import { whilePaused } from '../support/mining.ts'
import { nodeCall } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

// A reorganisation of the sandbox's EVM chains drops what everybody paid in it: no other scenario uses this network.
const network = 'sei'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: [network, 'btc'] })
})
afterAll(() => scenario.stop())

test('a deposit on an EVM network leaves the chain, comes back, and is executed once', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'sei@sei', to: 'btc@btc', amount: '1000', address })
  const wallet = await fundEvmWallet(scenario, network, '2000')
  await whilePaused(scenario, network, async () => {
    const paying = wallet.pay(exchange.request.depositAddress, '1000')
    await scenario.settles(exchange, 'confirming')
    await scenario.mine(network, 1)
    const raw = await nodeCall(network, 'eth_getRawTransactionByHash', [await paying])
    await items(scenario, exchange, 1, 'confirming')
    // The sandbox's EVM chains drop what was in the blocks; its sender offers it again.
    await scenario.reorg(network, 1)
    await items(scenario, exchange, 1, 'pending')
    await nodeCall(network, 'eth_sendRawTransaction', [raw])
  })
  const { exchanges } = await scenario.settles(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await scenario.invariants()
})
