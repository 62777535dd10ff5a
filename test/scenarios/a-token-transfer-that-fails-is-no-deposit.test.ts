import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testTokens } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { whilePaused } from '../support/mining.ts'
import { nodeOf } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('a transfer that reverts is shown as on its way until its block, and not after', async () => {
  const exchange = await scenario.create({ from: 'usdt@eth', to: 'btc@btc', amount: '500' })
  const { StandardToken } = await testTokens()
  // It has coin for the gas, and no USDT.
  const wallet = await fundEvmWallet(scenario, 'eth', '1')
  const usdt = nodeOf('eth').tokens['usdt'] as `0x${string}`
  let failing: Promise<unknown> = Promise.resolve()
  await whilePaused(scenario, 'eth', async () => {
    failing = wallet.call(usdt, StandardToken.abi, 'transfer', [exchange.request.depositAddress, parseUnits('500', 6)])
    await scenario.settles(exchange, 'confirming')
  })
  await failing
  const { exchanges } = await scenario.settles(exchange, 'pending')
  expect(exchanges).toEqual([])
  await scenario.invariants()
})
