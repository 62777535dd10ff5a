import { afterEach, beforeEach, expect, test } from 'vitest'
import { COIN, startMoneyPath } from '../../server/test/exchange/money-path.ts'
import { countOpen } from './load.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeEach(async () => {
  path = await startMoneyPath()
})
afterEach(() => path.close())

test('only open exchanges with a payment in a block count, so that adversaries who never pay keep no customer away', async () => {
  await path.fundWallets({ eth: 100n * 10n ** 18n })
  await path.createExchange()
  const paid = await path.createExchange()
  expect(await countOpen(path.database)).toBe(0)
  path.payDeposit(paid, COIN / 200n)
  await path.runWorkers()
  expect(await countOpen(path.database)).toBe(0)
  await path.mineBlocks(1)
  expect(await path.readStatus(paid)).toBe('confirming')
  expect(await countOpen(path.database)).toBe(1)
  await path.mineBlocks(14)
  expect(await path.readStatus(paid)).toBe('finished')
  expect(await countOpen(path.database)).toBe(0)
})
