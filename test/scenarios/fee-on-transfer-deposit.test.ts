import { encodeDeployData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testTokens } from '../../server/test/adapters/chains/evm/tokens.ts'
import { findNode, nodeCaller } from '../support/nodes.ts'
import { startScenarioOnOwnChains } from '../support/own-chains.ts'
import type { Scenario } from '../support/scenario.ts'

const FEE_BPS = 250n

let scenario: Scenario
let callEthereum: ReturnType<typeof nodeCaller>
beforeAll(async () => {
  // Chains of its own: the changed token would take its fee from the payments of other tests.
  scenario = await startScenarioOnOwnChains({ networks: ['eth', 'btc'] })
  callEthereum = nodeCaller('eth', scenario.chains)
})
afterAll(() => scenario?.stop())

/** Returns the runtime code of a token that takes a fee and whose Transfer events contain the full value. */
async function readFeeTokenCode(): Promise<string> {
  const { FeeToken } = await testTokens()
  const args = ['Tether USD', 'USDT', 6, FEE_BPS]
  return callEthereum('eth_call', { data: encodeDeployData({ ...FeeToken, args }) }, 'latest')
}

test('D17: a listed token that began to take a fee on transfers is exchanged for what arrived', async () => {
  const token = findNode('eth', scenario.chains).tokens['usdt']
  const originalCode = await callEthereum('eth_getCode', token, 'latest')
  const { address } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'usdt@eth', to: 'btc@btc', amount: '800', address })

  // Both contracts have the same storage layout, so the balances stay.
  await callEthereum('anvil_setCode', token, await readFeeTokenCode())
  await scenario.deposit(exchange, '800')
  await scenario.until(
    'the payment is in a block',
    async () => (await scenario.balance('usdt@eth', exchange.request.depositAddress)) !== '0',
  )
  await callEthereum('anvil_setCode', token, originalCode)
  expect(await scenario.balance('usdt@eth', exchange.request.depositAddress)).toBe('780')

  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('780')
  expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  // The amount is the one that a payment of 780 gets, not one of 800.
  const { toAmount } = await scenario.rate('usdt@eth', 'btc@btc', '780')
  expect(Number(exchanges[0].amountToReceived)).toBe(toAmount)
  await scenario.checkInvariants()
})
