import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, mineInstead } from '../support/bitcoin-wallet.ts'
import { booked, items } from '../support/facts.ts'
import { LOCK_MS, startWorldAloneOn } from '../support/market-lock.ts'
import { whilePaused } from '../support/mining.ts'
import type { World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorldAloneOn('ltc', { networks: ['ltc', 'eth'], settings: { expiryMs: 12_000 } })
}, LOCK_MS)
afterAll(() => world?.stop())

test('before it was counted: the exchange waits again, and fails when its time is over', async () => {
  const { address } = await world.wallet('eth')
  const wallet = await fundBitcoinWallet(world, 'ltc', '3')
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whilePaused(world, 'ltc', async () => {
    await wallet.send(payment)
    await world.mine('ltc', 1)
    await items(world, exchange, 1, 'confirming')
    await mineInstead('ltc', payment.txid, wallet.sign([{ address: wallet.address, amount: '2' }], 2n))
    await items(world, exchange, 1, 'pending')
  })
  const failed = await world.settles(exchange, 'failed')
  expect(failed.statusReason).toBe('DEPOSIT_VANISHED')
  expect(await world.balance('eth@eth', address)).toBe('0')
  await world.invariants()
})

test('after it was counted: every posting of it is reversed and nothing is paid', async () => {
  const { address } = await world.wallet('eth')
  const wallet = await fundBitcoinWallet(world, 'ltc', '3')
  const before = await booked(world, 'asset:wallet', 'ltc@ltc')
  await world.house.store.pauses.pause('payouts:eth', 'nothing is signed meanwhile', 'test')
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whilePaused(world, 'ltc', async () => {
    await wallet.send(payment)
    await world.mine('ltc', 2)
    await items(world, exchange, 1, 'exchanging')
    expect(await booked(world, 'asset:wallet', 'ltc@ltc')).toBe(before + parseUnits('2', 8))
    await mineInstead('ltc', payment.txid, wallet.sign([{ address: wallet.address, amount: '2' }], 2n))
    await items(world, exchange, 1, 'pending')
  })
  await world.house.store.pauses.resume('payouts:eth')
  expect(await booked(world, 'asset:wallet', 'ltc@ltc')).toBe(before)
  await world.settles(exchange, 'failed')
  expect(await world.balance('eth@eth', address)).toBe('0')
  expect(await booked(world, `liability:exchange:${exchange.id}`, 'eth@eth')).toBe(0n)
  await world.invariants()
})
