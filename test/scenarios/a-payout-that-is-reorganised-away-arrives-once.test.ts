import { afterAll, beforeAll, expect, test } from 'vitest'
import { whilePaused } from '../support/mining.ts'
import { nodeCall } from '../support/nodes.ts'
import { startWorld, type World } from '../support/scenario.ts'

// A reorganisation of the sandbox's EVM chains drops what everybody paid in it: no other scenario uses this network.
const network = 'uni'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', network] })
})
afterAll(() => world.stop())

test('a payout whose block is replaced is offered again with the same bytes', async () => {
  const { address } = await world.wallet(network)
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@uni', amount: '1', address })
  const first = await whilePaused(world, network, async () => {
    await world.deposit(exchange, '1')
    const hash = await world.until(
      'the payout is signed',
      async () => (await world.status(exchange)).exchanges[0]?.payoutHash,
    )
    await world.until('the node has it', () => nodeCall(network, 'eth_getTransactionByHash', [hash]))
    await world.mine(network, 2)
    await world.until(
      'it is mined',
      async () => (await nodeCall(network, 'eth_getTransactionReceipt', [hash]))?.blockNumber,
    )
    await world.reorg(network, 2)
    expect(await world.balance('eth@uni', address)).toBe('0')
    return hash
  })
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges[0].payoutHash).toBe(first)
  expect(await world.balance('eth@uni', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
