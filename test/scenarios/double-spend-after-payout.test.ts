import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, replaceBlocks } from '../support/bitcoin-wallet.ts'
import { LOCK_MS, startScenarioAloneOn } from '../support/market-lock.ts'
import { whileMiningPaused } from '../support/mining.ts'
import type { Scenario } from '../support/scenario.ts'
import { readAlarms, readBalance } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenarioAloneOn('ltc', { networks: ['ltc', 'eth'] })
}, LOCK_MS)
afterAll(() => scenario?.stop())

test('books a loss and raises an alarm if a deposit is double-spent after the payout is signed', async () => {
  const { address } = await scenario.wallet('eth')
  const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whileMiningPaused(scenario, 'ltc', async () => {
    await wallet.send(payment)
    await scenario.mine('ltc', 2)
    await scenario.until('the payout is signed', async () => (await scenario.status(exchange)).exchanges[0]?.payoutHash)
    await replaceBlocks(scenario, 'ltc', payment.txid, wallet.sign([{ address: wallet.address, amount: '2' }], 2n))
    await scenario.until(
      'the loss is booked',
      async () => (await readBalance(scenario, 'expense:suspense', 'ltc@ltc')) === parseUnits('2', 8),
    )
  })
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(await scenario.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  expect(await readAlarms(scenario, 'reorg:')).toHaveLength(1)
  await scenario.checkInvariants()
})
