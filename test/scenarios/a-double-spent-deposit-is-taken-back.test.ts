import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, mineInstead } from '../support/bitcoin-wallet.ts'
import { booked, items } from '../support/facts.ts'
import { LOCK_MS, startScenarioAloneOn } from '../support/market-lock.ts'
import { whilePaused } from '../support/mining.ts'
import type { Scenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenarioAloneOn('ltc', { networks: ['ltc', 'eth'], settings: { expiryMs: 12_000 } })
}, LOCK_MS)
afterAll(() => scenario?.stop())

test('before it was counted: the exchange waits again, and fails when its time is over', async () => {
  const { address } = await scenario.wallet('eth')
  const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whilePaused(scenario, 'ltc', async () => {
    await wallet.send(payment)
    await scenario.mine('ltc', 1)
    await items(scenario, exchange, 1, 'confirming')
    await mineInstead('ltc', payment.txid, wallet.sign([{ address: wallet.address, amount: '2' }], 2n))
    await items(scenario, exchange, 1, 'pending')
  })
  const failed = await scenario.settles(exchange, 'failed')
  expect(failed.statusReason).toBe('DEPOSIT_VANISHED')
  expect(await scenario.balance('eth@eth', address)).toBe('0')
  await scenario.invariants()
})

test('after it was counted: every posting of it is reversed and nothing is paid', async () => {
  const { address } = await scenario.wallet('eth')
  const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
  const before = await booked(scenario, 'asset:wallet', 'ltc@ltc')
  await scenario.app.store.pauses.pause('payouts:eth', 'nothing is signed meanwhile', 'test')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whilePaused(scenario, 'ltc', async () => {
    await wallet.send(payment)
    await scenario.mine('ltc', 2)
    await items(scenario, exchange, 1, 'exchanging')
    expect(await booked(scenario, 'asset:wallet', 'ltc@ltc')).toBe(before + parseUnits('2', 8))
    await mineInstead('ltc', payment.txid, wallet.sign([{ address: wallet.address, amount: '2' }], 2n))
    await items(scenario, exchange, 1, 'pending')
  })
  await scenario.app.store.pauses.resume('payouts:eth')
  expect(await booked(scenario, 'asset:wallet', 'ltc@ltc')).toBe(before)
  await scenario.settles(exchange, 'failed')
  expect(await scenario.balance('eth@eth', address)).toBe('0')
  expect(await booked(scenario, `liability:exchange:${exchange.id}`, 'eth@eth')).toBe(0n)
  await scenario.invariants()
})
