import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, mineInstead } from '../support/bitcoin-wallet.ts'
import { items } from '../support/facts.ts'
import { LOCK_MS, startScenarioAloneOn } from '../support/market-lock.ts'
import { whilePaused } from '../support/mining.ts'
import type { Scenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenarioAloneOn('ltc', { networks: ['ltc', 'eth'] })
}, LOCK_MS)
afterAll(() => scenario?.stop())

test('a deposit leaves the chain, comes back, and is executed once', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whilePaused(scenario, 'ltc', async () => {
    await wallet.send(payment)
    await scenario.mine('ltc', 1)
    await items(scenario, exchange, 1, 'confirming')
    await mineInstead('ltc', payment.txid, null)
    await items(scenario, exchange, 1, 'pending')
  })
  const { exchanges } = await scenario.settles(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(await scenario.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  await scenario.invariants()
})
