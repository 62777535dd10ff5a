import { afterAll, beforeAll, test } from 'vitest'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { belowMin, expectRefund } from '../support/facts.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'btc'] })
})
afterAll(() => world.stop())

test('coin of an EVM network goes back to who signed the payment', async () => {
  const exchange = await world.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4' })
  const amount = await belowMin(world, 'eth@eth', 'btc@btc', 18)
  const wallet = await fundEvmWallet(world, 'eth', '1')
  await wallet.pay(exchange.request.depositAddress, amount)
  await expectRefund(
    world,
    { currency: 'eth@eth', amount, address: wallet.address, quoteFrom: 'btc@btc', decimals: 18 },
    () => world.settles(exchange, 'refunded'),
  )
  await world.invariants()
})
