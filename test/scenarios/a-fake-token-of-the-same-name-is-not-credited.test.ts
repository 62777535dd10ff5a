import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testTokens } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { alarms } from '../support/facts.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'btc'] })
})
afterAll(() => world.stop())

test('an unlisted token that calls itself USDT raises an alarm and nothing else; the real one is executed', async () => {
  const { address } = await world.wallet('btc')
  const exchange = await world.create({ from: 'usdt@eth', to: 'btc@btc', amount: '500', address })
  const { StandardToken } = await testTokens()
  const wallet = await fundEvmWallet(world, 'eth', '1')
  const fake = await wallet.deploy(StandardToken, ['Tether USD', 'USDT', 6])
  await wallet.call(fake, StandardToken.abi, 'mint', [exchange.request.depositAddress, parseUnits('500', 6)])
  await world.until('the alarm is raised', async () => (await alarms(world, 'stray:eth:')).length === 1)
  await world.until('nothing is on its way', async () => (await world.status(exchange)).status === 'pending')
  expect((await world.status(exchange)).exchanges).toEqual([])
  await world.deposit(exchange, '500')
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(await world.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
