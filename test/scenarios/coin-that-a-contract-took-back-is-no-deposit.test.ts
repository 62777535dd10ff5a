import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testActors } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { caughtUp } from '../support/facts.ts'
import { nodeCall } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('a transfer inside a call that was undone moves nothing, and is not shown as on its way', async () => {
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4' })
  const { Forwarder } = await testActors()
  const wallet = await fundEvmWallet(scenario, 'eth', '1')
  const contract = await wallet.deploy(Forwarder, [])
  await wallet.call(contract, Forwarder.abi, 'forwardInVain', [exchange.request.depositAddress], parseEther('0.4'))
  await caughtUp(scenario, 'eth', Number(await nodeCall('eth', 'eth_blockNumber')))
  const { status, exchanges } = await scenario.status(exchange)
  expect([status, exchanges]).toEqual(['pending', []])
  await scenario.invariants()
})
