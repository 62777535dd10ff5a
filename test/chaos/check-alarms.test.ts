import { afterAll, beforeAll, expect, test } from 'vitest'
import { COIN, ETHER, startMoneyPath } from '../../server/test/exchange/money-path.ts'
import { listUncaused } from './check-alarms.ts'
import type { Payment, Purchase } from './customers.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => path.close())

/** The check with a customer who double-spent the payments with these hashes. */
const check = (...doubleSpent: readonly string[]) => {
  const payments = doubleSpent.map((hash) => ({ hash }) as Payment)
  const purchases = [{ payments } as unknown as Purchase]
  return listUncaused(path.database, { purchases, isDoubleSpent: () => true })
}

test('a deposit that left the chain after its payout is a finding, unless the customer double-spent it', async () => {
  const exchange = await path.createExchange()
  const hash = path.payDeposit(exchange, COIN / 200n)
  await path.mineBlocks(6)
  expect(await path.readStatus(exchange)).toBe('finished')
  expect(await check()).toEqual([])
  path.fakes.btc.reorg(6, (one) => one === hash)
  path.fakes.btc.mine(7)
  await path.runWorkers()
  expect(await check()).toEqual([expect.stringContaining('(reorg:')])
  expect(await check(hash)).toEqual([])
})

test('every critical alarm, a failed payout and a pause are findings; other warnings are not', async () => {
  const before = await check()
  const { alarms, pauses } = path.store
  for (const subject of ['database:older', 'reorg:eth', 'payout:1', 'stalled:eth', 'limit-used:all'])
    await alarms.raise(subject, 'an alarm', {})
  await pauses.pause('network:eth', 'a test', 'test')
  expect(await check()).toEqual([
    'an alarm (database:older) {}',
    'an alarm (payout:1) {}',
    ...before,
    'an alarm (reorg:eth) {}',
    'network:eth is paused: a test',
  ])
})
