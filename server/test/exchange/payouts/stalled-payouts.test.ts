import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RebroadcastResult } from '../../../src/exchange/ports/chain.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

test('a payment that waits in a pool for too long is an alarm in plain words, which its confirmation ends', async () => {
  const { eth } = fixture.fakes
  const asked: string[] = []
  let answer: RebroadcastResult = { kind: 'rebroadcast' }
  eth.chain.sender.rebroadcast = async ({ txHash }) => {
    asked.push(txHash)
    return answer
  }
  const exchange = await fixture.order()
  fixture.deposit(exchange, COIN / 200n)
  for (let n = 0; n < 3; n++) {
    fixture.fakes.btc.mine()
    await fixture.turn()
  }
  const waiting = eth.waiting()
  expect(waiting).toHaveLength(1)
  expect([...new Set(asked)]).toEqual(waiting)
  expect(await fixture.alarms()).toEqual([])

  answer = { kind: 'unmined', blocks: 10, remedy: 'run this' }
  await fixture.turn()
  expect(await fixture.store.alarms.list(10)).toMatchObject([
    {
      alarm: 'a payment is in the pools of nodes and is not mined',
      detail: { network: 'eth', txHash: waiting[0], blocks: 10, remedy: 'run this' },
    },
  ])
  expect((await fixture.alarms())[0]).toBe('unmined')
  expect(eth.waiting()).toEqual(waiting)

  await fixture.blocks(4)
  expect(await fixture.status(exchange)).toBe('finished')
  expect(await fixture.alarms()).toEqual([])
  expect(eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  await fixture.balanced()
})
