import { afterAll, beforeAll, expect, test } from 'vitest'
import { whilePaused } from '../support/mining.ts'
import { nodeCall } from '../support/nodes.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'ltc'], settings: { stuckMs: 1_000 } })
})
afterAll(() => world.stop())

test('a payout that no miner takes is replaced by one with a higher fee, which alone arrives', async () => {
  const { address } = await world.wallet('ltc')
  const exchange = await world.create({ from: 'eth@eth', to: 'ltc@ltc', amount: '0.1', address })
  const payoutHash = async (): Promise<string> => (await world.status(exchange)).exchanges[0]?.payoutHash
  const first = await whilePaused(world, 'ltc', async () => {
    await world.deposit(exchange, '0.1')
    const hash = await world.until('the payout is signed', payoutHash)
    await world.until('the payout is in the mempool', async () =>
      (await nodeCall('ltc', 'getrawmempool')).includes(hash),
    )
    // The miner counts its fee as less than nothing; everybody else's transactions go on.
    await nodeCall('ltc', 'prioritisetransaction', [hash, 0, -100_000_000])
    return hash
  })
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges[0].payoutHash).not.toBe(first)
  expect(await world.balance('ltc@ltc', address)).toBe(exchanges[0].amountToReceived)
  await expect(nodeCall('ltc', 'getrawtransaction', [first, true])).rejects.toThrow(
    'No such mempool or blockchain transaction',
  )
  await world.invariants()
})
