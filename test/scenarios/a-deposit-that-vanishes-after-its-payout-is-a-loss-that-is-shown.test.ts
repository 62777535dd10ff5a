import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, mineInstead } from '../support/bitcoin-wallet.ts'
import { alarms, booked } from '../support/facts.ts'
import { LOCK_MS, startWorldAloneOn } from '../support/market-lock.ts'
import { whilePaused } from '../support/mining.ts'
import type { World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorldAloneOn('ltc', { networks: ['ltc', 'eth'] })
}, LOCK_MS)
afterAll(() => world?.stop())

test('the deposit is double-spent after the payout was signed: booked as a loss, with an alarm', async () => {
  const { address } = await world.wallet('eth')
  const wallet = await fundBitcoinWallet(world, 'ltc', '3')
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2', address })
  const payment = wallet.sign([{ address: exchange.request.depositAddress, amount: '2' }])
  await whilePaused(world, 'ltc', async () => {
    await wallet.send(payment)
    await world.mine('ltc', 2)
    await world.until('the payout is signed', async () => (await world.status(exchange)).exchanges[0]?.payoutHash)
    await mineInstead('ltc', payment.txid, wallet.sign([{ address: wallet.address, amount: '2' }], 2n))
    await world.until(
      'the loss is booked',
      async () => (await booked(world, 'expense:suspense', 'ltc@ltc')) === parseUnits('2', 8),
    )
  })
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(await world.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  expect(await alarms(world, 'reorg:')).toHaveLength(1)
  await world.invariants()
})
