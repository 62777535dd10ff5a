import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, mineInstead } from '../support/bitcoin-wallet.ts'
import { items } from '../support/facts.ts'
import { LOCK_MS, startWorldAloneOn } from '../support/market-lock.ts'
import { whilePaused } from '../support/mining.ts'
import type { World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorldAloneOn('ltc', { networks: ['ltc', 'eth'] })
}, LOCK_MS)
afterAll(() => world?.stop())

test('a deposit leaves the chain, comes back, and is executed once', async () => {
  const { address } = await world.wallet('eth')
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const wallet = await fundBitcoinWallet(world, 'ltc', '3')
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whilePaused(world, 'ltc', async () => {
    await wallet.send(payment)
    await world.mine('ltc', 1)
    await items(world, exchange, 1, 'confirming')
    await mineInstead('ltc', payment.txid, null)
    await items(world, exchange, 1, 'pending')
  })
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(await world.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
