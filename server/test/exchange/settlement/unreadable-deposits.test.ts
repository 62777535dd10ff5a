import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { COIN, ltc } from '../money-path.ts'
import { plan, startPrivateMoneyPath } from '../private/private-money-path.ts'

let path: Awaited<ReturnType<typeof startPrivateMoneyPath>>
const warnings: object[] = []
beforeAll(async () => {
  path = await startPrivateMoneyPath()
  path.dependencies.log = { ...path.dependencies.log, warn: (fields) => void warnings.push(fields) }
})
afterAll(() => path.close())
afterEach(async () => {
  path.fakes.btc.behaviour.unreadable.clear()
  warnings.length = 0
  await path.expectBalanced()
})

const PAID = COIN / 200n
const DUST = COIN / 1_000n
const locked = new AppError('NETWORK_UNAVAILABLE', 'the output is still locked by its sender')
/** A deposit that no node can read, with enough confirmations. */
const payUnreadable = (exchange: Exchange, error: Error = locked) => {
  const txHash = path.payDeposit(exchange, DUST)
  path.fakes.btc.behaviour.unreadable.set(txHash, error)
  return txHash
}
const listStatuses = async (exchange: Exchange) =>
  (await path.listExecutions(exchange)).map(({ leg, status }) => `${leg} ${status}`)

// One such deposit stopped every execution of its exchange, and raised no alarm.
test('pays the other deposits of the exchange while one cannot be read, and credits that one when it can', async () => {
  const exchange = await path.createExchange()
  const txHash = payUnreadable(exchange)
  path.payDeposit(exchange, PAID)
  await path.mineBlocks(6)
  expect(await listStatuses(exchange)).toEqual(['0 confirming', '0 finished'])
  expect(path.countEtherPayments(exchange)).toBe(1)
  expect(warnings).toContainEqual(
    expect.objectContaining({ network: 'btc', txHash, exchangeId: exchange.id, err: locked }),
  )
  const [check] = await path.database.query<{ seconds: number }>(
    'select extract(epoch from next_check_at - clock_timestamp())::float8 as seconds from exchange_checks where exchange_id = $1',
    [exchange.id],
  )
  expect(check?.seconds).toBeLessThan(16)
  path.fakes.btc.behaviour.unreadable.clear()
  await path.mineBlocks(6)
  expect(await listStatuses(exchange)).toEqual(['0 finished', '0 finished'])
})

test('finishes the second leg of a private exchange while a late deposit of the first cannot be read', async () => {
  const exchange = await path.createExchange({ via: ltc, plan })
  path.payDeposit(exchange, PAID)
  await path.mineBlocks(3)
  expect(path.countEtherPayments(exchange)).toBe(0)
  payUnreadable(exchange)
  await path.mineBlocks(12)
  expect((await listStatuses(exchange)).sort()).toEqual(['0 confirming', '0 finished', '1 finished'])
  expect(path.countEtherPayments(exchange)).toBe(1)
})

test('a deposit that arrives after the exchange has failed, and cannot be read, is checked again and refunded', async () => {
  const exchange = await path.createExchange()
  await path.database.query("update exchanges set expires_at = clock_timestamp() - interval '1 hour' where id = $1", [
    exchange.id,
  ])
  await path.database.query('update exchange_checks set next_check_at = clock_timestamp() where exchange_id = $1', [
    exchange.id,
  ])
  await path.mineBlocks(1)
  expect(await path.readStatus(exchange)).toBe('failed')
  payUnreadable(exchange)
  await path.mineBlocks(4)
  const readChecks = () => path.database.query('select 1 from exchange_checks where exchange_id = $1', [exchange.id])
  expect(await readChecks()).toHaveLength(1)
  path.fakes.btc.behaviour.unreadable.clear()
  await path.runJob(`exchange:${exchange.id}`)
  await path.mineBlocks(4)
  expect(path.fakes.btc.listPayments(exchange.refund?.address ?? '')).toHaveLength(1)
  expect(await readChecks()).toEqual([])
})

test('a bug while a deposit is read still fails the step, and so raises its alarm', async () => {
  const exchange = await path.createExchange()
  payUnreadable(exchange, new Error('a bug'))
  await expect(path.mineBlocks(3)).rejects.toThrow('a bug')
  path.fakes.btc.behaviour.unreadable.clear()
  await path.mineBlocks(6)
  expect(await path.readStatus(exchange)).toBe('finished')
})
