import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet } from '../support/bitcoin-wallet.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('D1: an exchange returns to pending if the sender replaces the unconfirmed payment', async () => {
  const wallet = await fundBitcoinWallet(scenario, 'ltc', '2')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1' })
  await whileMiningPaused(scenario, 'ltc', async () => {
    await wallet.send(wallet.sign([{ address: exchange.request.depositAddress, amount: '1' }]))
    await scenario.waitForStatus(exchange, 'confirming')
    await wallet.send(wallet.sign([{ address: wallet.address, amount: '1' }], 3n))
  })
  const { exchanges } = await scenario.waitForStatus(exchange, 'pending')
  expect(exchanges).toEqual([])
  await scenario.checkInvariants()
})
