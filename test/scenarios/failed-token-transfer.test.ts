import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testTokens } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { findNode } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('shows a reverting transfer as confirming until its block, then as pending', async () => {
  const exchange = await scenario.create({ from: 'usdt@eth', to: 'btc@btc', amount: '500' })
  const { StandardToken } = await testTokens()
  // The wallet has ether for gas and no USDT.
  const wallet = await fundEvmWallet(scenario, 'eth', '1')
  const usdt = findNode('eth').tokens['usdt'] as `0x${string}`
  let failedTransfer: Promise<unknown> = Promise.resolve()
  await whileMiningPaused(scenario, 'eth', async () => {
    failedTransfer = wallet.call(usdt, StandardToken.abi, 'transfer', [
      exchange.request.depositAddress,
      parseUnits('500', 6),
    ])
    await scenario.waitForStatus(exchange, 'confirming')
  })
  await failedTransfer
  const { exchanges } = await scenario.waitForStatus(exchange, 'pending')
  expect(exchanges).toEqual([])
  await scenario.checkInvariants()
})
