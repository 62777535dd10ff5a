import { afterAll, beforeAll, expect, test } from 'vitest'
import { findExchanges } from '../../../src/adapters/postgres/exchange/exchange-details.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 2n * COIN, eth: 100n * ETHER })
})
afterAll(() => path.close())

test('finds an exchange by its address and by the hashes of its payment, its deposit and its payout', async () => {
  const [exchange, other] = [await path.createExchange(), await path.createExchange()]
  const find = async (text: string) =>
    (await findExchanges(path.database, [text])).map(({ exchangeId, status, by }) => [exchangeId, status, by])
  expect(await find(exchange.deposit.address)).toEqual([[exchange.id, 'pending', 'deposit address']])
  const hash = path.payDeposit(exchange, COIN / 200n)
  path.payDeposit(other, COIN / 200n)
  await path.runWatchers()
  expect((await find(hash)).map(([id, , by]) => [id, by])).toEqual([[exchange.id, 'unconfirmed deposit']])
  await path.mineBlocks(6)
  expect(await path.readStatus(exchange)).toBe('finished')
  expect(await find(hash)).toEqual([[exchange.id, 'finished', 'deposit']])
  const [payment] = path.fakes.eth.listPayments(exchange.recipient?.address ?? '')
  expect(await find(payment?.txHash ?? '')).toEqual([[exchange.id, 'finished', 'payout']])
  expect(await find('unknown')).toEqual([])
})
