import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createWatchUnserved } from '../../../src/exchange/operations/watch-unserved.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 10n * COIN, eth: 10n * ETHER })
})
afterAll(() => path.close())
afterEach(() => path.expectBalanced())

const PAID = COIN / 200n
const remove = (network: 'btc' | 'eth') => path.dependencies.chains.delete(network)
const configure = (network: 'btc' | 'eth') => path.dependencies.chains.set(network, path.fakes[network].chain)
const alarmOf = async (subject: string) => (await path.store.alarms.find(subject))?.detail

// M27.2: each step threw, nothing was visible, and nothing refunded it.
test('M27.2: holds a credited deposit whose target network was removed, and refunds it on a decision', async () => {
  const exchange = await path.createExchange()
  path.payDeposit(exchange, PAID)
  remove('eth')
  await path.mineBlocks(2)
  const held = await path.readExecution(exchange)
  expect(held).toMatchObject({ status: 'verifying', reason: 'NETWORK_UNAVAILABLE' })
  expect(await path.readStatus(exchange)).toBe('verifying')
  expect(await alarmOf(`held:${held.id}`)).toMatchObject({ network: 'eth', reason: 'NETWORK_UNAVAILABLE' })
  // What is open there is an alarm of its own, and part of the start's output.
  const watch = createWatchUnserved({ store: path.store, networks: ['btc', 'ltc'] })
  await watch()
  expect(await alarmOf('unserved:eth')).toMatchObject({ exchanges: 1, exchangeId: exchange.id, payouts: 0 })
  await path.decide(exchange, 'refund')
  await path.mineBlocks(4)
  expect(await path.readExecution(exchange)).toMatchObject({ status: 'refunded' })
  expect(path.fakes.btc.listPayments(exchange.refund?.address ?? '')).toHaveLength(1)
  await watch()
  expect(await alarmOf('unserved:eth')).toBeUndefined()
  configure('eth')
})

test('takes back a payout that was queued on a removed network, and pays it when the network is back', async () => {
  const exchange = await path.queuePayout()
  remove('eth')
  await path.runJobs()
  expect(await path.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'NETWORK_UNAVAILABLE' })
  configure('eth')
  await path.mineBlocks(4)
  expect(await path.readStatus(exchange)).toBe('finished')
  expect(path.countEtherPayments(exchange)).toBe(1)
})

test('holds a deposit whose own network was removed, and continues when it is back', async () => {
  const exchange = await path.createExchange()
  path.payDeposit(exchange, PAID)
  await path.mineBlocks(1)
  remove('btc')
  await path.runJobs()
  expect(await path.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'NETWORK_UNAVAILABLE' })
  await path.runJobs()
  configure('btc')
  await path.mineBlocks(4)
  expect(await path.readStatus(exchange)).toBe('finished')
  expect(await path.listAlarmKinds()).not.toContain('held')
})

test('pays a credited deposit although its own network was removed', async () => {
  const exchange = await path.queuePayout()
  remove('btc')
  await path.mineBlocks(4)
  expect(await path.readStatus(exchange)).toBe('finished')
  configure('btc')
  await path.runWatchers()
})

test('leaves a signed payout on a removed network as it is, and follows it when the network is back', async () => {
  const exchange = await path.queuePayout()
  await path.runJobs(1)
  remove('eth')
  await path.runJobs()
  expect(await path.readExecution(exchange)).toMatchObject({ status: 'sending', payout: { state: 'signed' } })
  configure('eth')
  await path.mineBlocks(4)
  expect(await path.readStatus(exchange)).toBe('finished')
  expect(path.countEtherPayments(exchange)).toBe(1)
})

const expireUnpaid = async () => {
  const exchange = await path.createExchange()
  await path.database.query(
    `with behind as (update cursors set caught_up_at = clock_timestamp() - interval '2 days' where network = 'btc'),
       due as (update exchange_checks set next_check_at = clock_timestamp() where exchange_id = $1)
     update exchanges set expires_at = clock_timestamp() - interval '1 hour' where id = $1`,
    [exchange.id],
  )
  await path.services.step(exchange.id)
  return exchange
}

// A network without a watcher kept its unpaid exchanges open, until the partner's limit of open ones stopped all networks.
test('does not count expired exchanges that wait for a watcher, and checks them less and less often', async () => {
  const before = await path.store.exchanges.countOpen((await path.createExchange()).partnerId, 1_000)
  const exchange = await expireUnpaid()
  expect(await path.readStatus(exchange)).toBe('pending')
  expect(await path.store.exchanges.countOpen(exchange.partnerId, 1_000)).toBe(before)
  // A tenth of the hour that it is overdue.
  const [row] = await path.database.query<{ minutes: number }>(
    'select extract(epoch from next_check_at - clock_timestamp())::float8 / 60 as minutes from exchange_checks where exchange_id = $1',
    [exchange.id],
  )
  expect(row?.minutes).toBeGreaterThan(5)
  expect(row?.minutes).toBeLessThan(7)
  await path.runWatchers()
})

test('expires unpaid exchanges of a removed network by the clock', async () => {
  remove('btc')
  const exchange = await expireUnpaid()
  expect(await path.readStatus(exchange)).toBe('failed')
  configure('btc')
})
