import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testActors } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { callNode } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { waitForHeight } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('ignores an internal transfer of a reverted call', async () => {
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4' })
  const { Forwarder } = await testActors()
  const wallet = await fundEvmWallet(scenario, 'eth', '1')
  const contract = await wallet.deploy(Forwarder, [])
  await wallet.call(contract, Forwarder.abi, 'forwardInVain', [exchange.request.depositAddress], parseEther('0.4'))
  await waitForHeight(scenario, 'eth', Number(await callNode('eth', 'eth_blockNumber')))
  const { status, exchanges } = await scenario.status(exchange)
  expect([status, exchanges]).toEqual(['pending', []])
  await scenario.checkInvariants()
})
