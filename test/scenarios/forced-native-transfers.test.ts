import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testActors } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { readAlarms } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('D12, D13, D14: ether from a self-destruct raises an alarm, ether from a constructor is credited, a zero transfer is ignored', async () => {
  const { Exploder, PayingConstructor } = await testActors()
  const wallet = await fundEvmWallet(scenario, 'eth', '2')
  const order = () => scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4' })
  const [forced, constructed, empty] = [await order(), await order(), await order()]
  await wallet.pay(empty.request.depositAddress, '0')
  await wallet.deploy(Exploder, [forced.request.depositAddress], parseEther('0.4'))
  await wallet.deploy(PayingConstructor, [constructed.request.depositAddress], parseEther('0.4'))
  await scenario.waitForStatus(constructed, 'finished')
  await scenario.until(
    'the alarm is raised',
    async () => (await readAlarms(scenario, `unseen:${forced.id}`)).length === 1,
  )
  for (const exchange of [forced, empty]) {
    const { status, exchanges } = await scenario.status(exchange)
    expect([status, exchanges]).toEqual(['pending', []])
  }
  expect(await readAlarms(scenario, `unseen:${empty.id}`)).toEqual([])
  // The trace of the network's nodes shows no call that pays what a self-destruct pays.
  await scenario.checkInvariants(new Map([['eth@eth', parseEther('0.4')]]))
})
