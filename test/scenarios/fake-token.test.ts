import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testTokens } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { readAlarms } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('a transfer of an unlisted token named USDT only raises an alarm; a USDT deposit is executed', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'usdt@eth', to: 'btc@btc', amount: '500', address })
  const { StandardToken } = await testTokens()
  const wallet = await fundEvmWallet(scenario, 'eth', '1')
  const fake = await wallet.deploy(StandardToken, ['Tether USD', 'USDT', 6])
  await wallet.call(fake, StandardToken.abi, 'mint', [exchange.request.depositAddress, parseUnits('500', 6)])
  await scenario.until('the alarm is raised', async () => (await readAlarms(scenario, 'stray:eth')).length === 1)
  await scenario.until('the exchange is pending', async () => (await scenario.status(exchange)).status === 'pending')
  expect((await scenario.status(exchange)).exchanges).toEqual([])
  await scenario.deposit(exchange, '500')
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
