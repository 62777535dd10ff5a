import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, replaceBlocks } from '../support/bitcoin-wallet.ts'
import { LOCK_MS, startScenarioAloneOn } from '../support/market-lock.ts'
import { whileMiningPaused } from '../support/mining.ts'
import type { Scenario } from '../support/scenario.ts'
import { waitForItems } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenarioAloneOn('ltc', { networks: ['ltc', 'eth'] })
}, LOCK_MS)
afterAll(() => scenario?.stop())

test('executes a deposit once if it leaves the chain and returns', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whileMiningPaused(scenario, 'ltc', async () => {
    await wallet.send(payment)
    await scenario.mine('ltc', 1)
    await waitForItems(scenario, exchange, 1, 'confirming')
    await replaceBlocks(scenario, 'ltc', payment.txid, null)
    await waitForItems(scenario, exchange, 1, 'pending')
  })
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(await scenario.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
