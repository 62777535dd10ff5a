import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFind } from '../../../src/adapters/postgres/exchange/poll-cache.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { COIN, ETHER, partnerId, startMoneyPath } from '../../exchange/money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

/** Mines on bitcoin alone; the watchers record the block, and no step runs. */
async function mineOne(): Promise<void> {
  fixture.fakes.btc.mine()
  await fixture.runWatchers()
}

/** The confirmations of the only deposit by three readers: a process that polls, another one, and the list. */
async function readConfirmations(exchange: Exchange, find: ReturnType<typeof createFind>): Promise<number[]> {
  const [listed] = await fixture.store.exchanges.list({ partnerId }, null, 1, 0)
  const views = [await find(partnerId, exchange.id), await createFind(fixture.database)(partnerId, exchange.id), listed]
  return views.map((view) => view?.executions[0]?.confirmations.seen ?? -1)
}

test('a poll states the current confirmations of a deposit, although no row of the exchange changes', async () => {
  const find = createFind(fixture.database)
  const exchange = await fixture.createExchange()
  expect(await readConfirmations(exchange, find)).toEqual([-1, -1, -1])
  fixture.payDeposit(exchange, COIN / 200n)
  await mineOne()
  const required = (await find(partnerId, exchange.id))?.executions[0]?.confirmations.required ?? 0
  expect(required).toBeGreaterThan(1)
  for (let seen = 1; seen <= required; seen++) {
    expect(await readConfirmations(exchange, find)).toEqual([seen, seen, seen])
    await mineOne()
  }
  // No more than required, so that responses of old exchanges stay the same.
  expect(await readConfirmations(exchange, find)).toEqual([required, required, required])
})

test('a poll states no confirmations of a deposit that left the chain', async () => {
  const find = createFind(fixture.database)
  const exchange = await fixture.createExchange()
  const txHash = fixture.payDeposit(exchange, COIN / 200n)
  await mineOne()
  await mineOne()
  expect(await readConfirmations(exchange, find)).toEqual([2, 2, 2])
  fixture.fakes.btc.reorg(2, (one) => one === txHash)
  for (let n = 0; n < 3; n++) fixture.fakes.btc.mine()
  await fixture.runWatchers()
  expect(await readConfirmations(exchange, find)).toEqual([0, 0, 0])
})
