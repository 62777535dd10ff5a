import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testActors } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { alarms } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('D12, D13, D14: coin of a self-destruction is shown to the operator, of a constructor is credited, nothing is nothing', async () => {
  const { Exploder, PayingConstructor } = await testActors()
  const wallet = await fundEvmWallet(scenario, 'eth', '2')
  const order = () => scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4' })
  const [forced, constructed, empty] = [await order(), await order(), await order()]
  await wallet.pay(empty.request.depositAddress, '0')
  await wallet.deploy(Exploder, [forced.request.depositAddress], parseEther('0.4'))
  await wallet.deploy(PayingConstructor, [constructed.request.depositAddress], parseEther('0.4'))
  await scenario.settles(constructed, 'finished')
  await scenario.until('the operator is told', async () => (await alarms(scenario, `unseen:${forced.id}`)).length === 1)
  for (const exchange of [forced, empty]) {
    const { status, exchanges } = await scenario.status(exchange)
    expect([status, exchanges]).toEqual(['pending', []])
  }
  expect(await alarms(scenario, `unseen:${empty.id}`)).toEqual([])
  await scenario.invariants()
})
