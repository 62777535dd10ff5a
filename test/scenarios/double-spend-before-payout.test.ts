import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, replaceBlocks } from '../support/bitcoin-wallet.ts'
import { LOCK_MS, startScenarioAloneOn } from '../support/market-lock.ts'
import { whileMiningPaused } from '../support/mining.ts'
import type { Scenario } from '../support/scenario.ts'
import { readBalance, waitForItems } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenarioAloneOn('ltc', { networks: ['ltc', 'eth'], settings: { expiryMs: 12_000 } })
}, LOCK_MS)
afterAll(() => scenario?.stop())

test('an exchange whose deposit is double-spent before the credit returns to pending and fails at its expiry', async () => {
  const { address } = await scenario.wallet('eth')
  const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whileMiningPaused(scenario, 'ltc', async () => {
    await wallet.send(payment)
    await scenario.mine('ltc', 1)
    await waitForItems(scenario, exchange, 1, 'confirming')
    await replaceBlocks(scenario, 'ltc', payment.txid, wallet.sign([{ address: wallet.address, amount: '2' }], 2n))
    await waitForItems(scenario, exchange, 1, 'pending')
  })
  const failed = await scenario.waitForStatus(exchange, 'failed')
  expect(failed.statusReason).toBe('DEPOSIT_VANISHED')
  expect(await scenario.balance('eth@eth', address)).toBe('0')
  await scenario.checkInvariants()
})

test('a double-spend after the credit and before the payout reverses every posting of the deposit', async () => {
  const { address } = await scenario.wallet('eth')
  const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
  const before = await readBalance(scenario, 'asset:wallet', 'ltc@ltc')
  await scenario.app.store.pauses.pause('payouts:eth', 'keep the payout unsigned', 'test')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whileMiningPaused(scenario, 'ltc', async () => {
    await wallet.send(payment)
    await scenario.mine('ltc', 2)
    await waitForItems(scenario, exchange, 1, 'exchanging')
    expect(await readBalance(scenario, 'asset:wallet', 'ltc@ltc')).toBe(before + parseUnits('2', 8))
    await replaceBlocks(scenario, 'ltc', payment.txid, wallet.sign([{ address: wallet.address, amount: '2' }], 2n))
    await waitForItems(scenario, exchange, 1, 'pending')
  })
  await scenario.app.store.pauses.resume('payouts:eth')
  expect(await readBalance(scenario, 'asset:wallet', 'ltc@ltc')).toBe(before)
  await scenario.waitForStatus(exchange, 'failed')
  expect(await scenario.balance('eth@eth', address)).toBe('0')
  expect(await readBalance(scenario, `liability:exchange:${exchange.id}`, 'eth@eth')).toBe(0n)
  await scenario.checkInvariants()
})
