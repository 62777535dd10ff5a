import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet } from '../support/bitcoin-wallet.ts'
import { whilePaused } from '../support/mining.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'] })
})
afterAll(() => world.stop())

test('D1: a payment that its sender replaces before it is mined was never one', async () => {
  const wallet = await fundBitcoinWallet(world, 'ltc', '2')
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1' })
  await whilePaused(world, 'ltc', async () => {
    await wallet.send(wallet.sign([{ address: exchange.request.depositAddress, amount: '1' }]))
    await world.settles(exchange, 'confirming')
    await wallet.send(wallet.sign([{ address: wallet.address, amount: '1' }], 3n))
  })
  const { exchanges } = await world.settles(exchange, 'pending')
  expect(exchanges).toEqual([])
  await world.invariants()
})
