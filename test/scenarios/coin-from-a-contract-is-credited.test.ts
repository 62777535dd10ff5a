import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testActors } from '../../server/test/adapters/chains/evm/tokens.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'btc'] })
})
afterAll(() => world.stop())

test('coin that a contract pays within a transaction is a deposit', async () => {
  const { address } = await world.wallet('btc')
  const exchange = await world.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4', address })
  const { Forwarder } = await testActors()
  const wallet = await fundEvmWallet(world, 'eth', '1')
  const contract = await wallet.deploy(Forwarder, [])
  const hash = await wallet.call(
    contract,
    Forwarder.abi,
    'forward',
    [exchange.request.depositAddress],
    parseEther('0.4'),
  )
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect([exchanges[0].payinHash, exchanges[0].amountFromReceived]).toEqual([hash, '0.4'])
  expect(await world.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
