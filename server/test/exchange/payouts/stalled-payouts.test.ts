import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RebroadcastResult } from '../../../src/exchange/ports/chain.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

test('a payment that stays in the mempool too long raises an alarm, which its confirmation clears', async () => {
  const { eth } = fixture.fakes
  const rebroadcastHashes: string[] = []
  let result: RebroadcastResult = { kind: 'rebroadcast' }
  eth.chain.sender.rebroadcast = async ({ txHash }) => {
    rebroadcastHashes.push(txHash)
    return result
  }
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, COIN / 200n)
  for (let n = 0; n < 3; n++) {
    fixture.fakes.btc.mine()
    await fixture.runWorkers()
  }
  const poolHashes = eth.listPoolHashes()
  expect(poolHashes).toHaveLength(1)
  expect([...new Set(rebroadcastHashes)]).toEqual(poolHashes)
  expect(await fixture.listAlarmKinds()).toEqual([])

  result = { kind: 'unmined', blocks: 10, remedy: 'run this' }
  await fixture.runWorkers()
  expect(await fixture.store.alarms.list(10)).toMatchObject([
    {
      alarm: 'a transaction of ours is in the mempools and not mined',
      detail: { network: 'eth', txHash: poolHashes[0], blocks: 10, remedy: 'run this' },
    },
  ])
  expect((await fixture.listAlarmKinds())[0]).toBe('unmined')
  expect(eth.listPoolHashes()).toEqual(poolHashes)

  await fixture.mineBlocks(4)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  expect(await fixture.listAlarmKinds()).toEqual([])
  expect(eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
  await fixture.expectBalanced()
})
