import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testActors } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('credits ether that a contract pays in an internal transfer', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4', address })
  const { Forwarder } = await testActors()
  const wallet = await fundEvmWallet(scenario, 'eth', '1')
  const contract = await wallet.deploy(Forwarder, [])
  const hash = await wallet.call(
    contract,
    Forwarder.abi,
    'forward',
    [exchange.request.depositAddress],
    parseEther('0.4'),
  )
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect([exchanges[0].payinHash, exchanges[0].amountFromReceived]).toEqual([hash, '0.4'])
  expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
