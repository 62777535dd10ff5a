import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Revival } from '../../src/exchange/ports/chain.ts'
import { COIN, ETHER, startSpine } from './spine.ts'

let spine: Awaited<ReturnType<typeof startSpine>>
beforeAll(async () => {
  spine = await startSpine()
  await spine.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => spine.close())

test('a payment that waits in a pool for too long is an alarm in plain words, which its confirmation ends', async () => {
  const { eth } = spine.fakes
  const asked: string[] = []
  let answer: Revival = { kind: 'offered' }
  eth.chain.sender.revive = async ({ txHash }) => {
    asked.push(txHash)
    return answer
  }
  const exchange = await spine.order()
  spine.deposit(exchange, COIN / 200n)
  for (let n = 0; n < 3; n++) {
    spine.fakes.btc.mine()
    await spine.turn()
  }
  const waiting = eth.waiting()
  expect(waiting).toHaveLength(1)
  expect([...new Set(asked)]).toEqual(waiting)
  expect(await spine.alarms()).toEqual([])

  answer = { kind: 'unmined', blocks: 10, remedy: 'run this' }
  await spine.turn()
  expect(await spine.store.alarms.list(10)).toMatchObject([
    {
      alarm: 'a payment waits in the pools of nodes and is not mined',
      detail: { network: 'eth', txHash: waiting[0], blocks: 10, remedy: 'run this' },
    },
  ])
  expect((await spine.alarms())[0]).toBe('unmined')
  expect(eth.waiting()).toEqual(waiting)

  await spine.blocks(4)
  expect(await spine.status(exchange)).toBe('finished')
  expect(await spine.alarms()).toEqual([])
  expect(eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  await spine.balanced()
})
