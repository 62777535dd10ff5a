import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import { btc } from '../../../src/exchange/domain/pricing.fixture.ts'
import { requestRescan } from '../../../src/exchange/operations/request-rescan.ts'
import type { Chain } from '../../../src/exchange/ports/chain.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 10n * COIN, eth: 10n * ETHER })
})
afterAll(() => path.close())
beforeEach(() => {
  path.fakes.btc.behaviour.hiddenTxHashes.clear()
  path.fakes.btc.behaviour.reportDifferently = null
})
afterEach(() => path.expectBalanced())

const PAID = COIN / 200n
const note = { actor: 'test', reason: 'a customer misses a payment' }

const readCursor = async () => (await path.store.chainLog.cursor('btc'))?.height ?? 0
/** Asks for all blocks that are final, at most the newest 40, and reads them. */
const rescan = async (chain: Chain = path.fakes.btc.chain) => {
  const to = (await readCursor()) - btc.network.finalityBlocks + 1
  const { id } = await requestRescan(path.store, btc.network, { from: Math.max(0, to - 39), to }, note)
  while (await path.services.rescan(chain));
  await path.runJobs()
  await path.mineBlocks(3)
  return path.store.rescans.find(id)
}
/** A payment in a final block that the watcher's node did not report. */
const payUnseen = async (address: string) => {
  const txHash = path.fakes.btc.pay(address, PAID)
  path.fakes.btc.behaviour.hiddenTxHashes.add(txHash)
  await mineFinal()
  return txHash
}
const mineFinal = async () => {
  path.fakes.btc.mine(btc.network.finalityBlocks + 1)
  await path.runWorkers()
}
const alarms = async () => (await path.store.alarms.list(100)).map(({ subject }) => subject)

// M27.3: what the first node did not report was never looked for again.
test('M27.3: records a deposit that only another node reports, and pays it once', async () => {
  const exchange = await path.createExchange()
  await payUnseen(exchange.deposit.address)
  expect(await path.listExecutions(exchange)).toEqual([])
  expect(await rescan()).toMatchObject({ found: 1, failure: null, hasEnded: true })
  expect(await path.readStatus(exchange)).toBe('finished')
  expect(await rescan()).toMatchObject({ found: 0, hasEnded: true })
  expect(await path.listExecutions(exchange)).toHaveLength(1)
  expect(path.countEtherPayments(exchange)).toBe(1)
})

test('changes nothing about a deposit that is known', async () => {
  const exchange = await path.createExchange()
  const txHash = path.payDeposit(exchange, PAID)
  await mineFinal()
  await path.mineBlocks(3)
  expect(await path.readStatus(exchange)).toBe('finished')
  expect(await rescan()).toMatchObject({ found: 0 })
  expect(await alarms()).not.toContain('rescan:btc')
  // Another amount under the identity of the known deposit: not a second payment, but a wrong node.
  path.fakes.btc.behaviour.hiddenTxHashes.add(txHash)
  path.fakes.btc.behaviour.reportDifferently = (one) =>
    one.txHash === txHash ? { ...one, units: one.units + 1n } : one
  expect(await rescan()).toMatchObject({ found: 0 })
  expect(await alarms()).toContain('rescan:btc')
  await path.store.alarms.clear('rescan:btc')
  expect(await path.listExecutions(exchange)).toHaveLength(1)
  expect(path.countEtherPayments(exchange)).toBe(1)
})

test('refunds a missed deposit of an exchange that has expired', async () => {
  const exchange = await path.createExchange()
  await payUnseen(exchange.deposit.address)
  await path.database.query(
    `with due as (update exchange_checks set next_check_at = clock_timestamp() where exchange_id = $1)
     update exchanges set expires_at = clock_timestamp() - interval '1 hour' where id = $1`,
    [exchange.id],
  )
  await path.runWorkers()
  expect(await path.readStatus(exchange)).toBe('failed')
  expect(await rescan()).toMatchObject({ found: 1 })
  expect(await path.readExecution(exchange)).toMatchObject({ status: 'refunded', deposit: { units: PAID } })
  expect(path.countEtherPayments(exchange)).toBe(0)
})

test('books a funding of the operator that was missed', async () => {
  const before = await path.readWalletUnits('btc@btc')
  await payUnseen(path.fakes.btc.chain.addresses.hot())
  expect(await path.readWalletUnits('btc@btc')).toBe(before)
  expect(await rescan()).toMatchObject({ found: 1 })
  expect(await path.readWalletUnits('btc@btc')).toBe(before + PAID)
})

test('records nothing of a transaction about which two nodes contradict each other, and raises an alarm', async () => {
  const exchange = await path.createExchange()
  const txHash = path.fakes.btc.pay(exchange.deposit.address, PAID)
  // The first node names another address: the watcher does not see the payment as ours.
  path.fakes.btc.behaviour.hiddenTxHashes.add(txHash)
  await mineFinal()
  path.fakes.btc.behaviour.hiddenTxHashes.clear()
  path.fakes.btc.behaviour.reportDifferently = (one) =>
    one.txHash === txHash ? { ...one, units: one.units + 1n } : one
  expect(await rescan()).toMatchObject({ found: 0, hasEnded: true })
  expect(await path.listExecutions(exchange)).toEqual([])
  expect(await alarms()).toContain('rescan:btc')
})

test('ends after repeated failures of a node, without harm to the watcher', async () => {
  const { chain } = path.fakes.btc
  const failing: Chain = {
    ...chain,
    reader: {
      ...chain.reader,
      blockOfEachNode: () => Promise.reject(new AppError('NETWORK_UNAVAILABLE', 'no answer')),
    },
  }
  const { id } = await requestRescan(path.store, btc.network, { from: 1, to: 2 }, note)
  expect(await path.services.rescan(failing)).toBe(false)
  expect(await path.store.rescans.find(id)).toMatchObject({
    nextHeight: 1,
    failure: 'block 1: no answer',
    hasEnded: false,
  })
  for (let n = 1; n < 20; n++) await path.services.rescan(failing)
  expect(await path.store.rescans.find(id)).toMatchObject({ nextHeight: 1, hasEnded: true })
})

test('reads final blocks in a bounded range, one rescan at a time, and is in the audit log', async () => {
  const head = await readCursor()
  const final = head - btc.network.finalityBlocks + 1
  const request = (from: number, to: number, reason = note.reason) =>
    requestRescan(path.store, btc.network, { from, to }, { actor: 'test', reason })
  await expect(request(final, final + 1)).rejects.toThrow('is not final')
  await expect(request(2, 1)).rejects.toThrow('FROM at most TO')
  await expect(request(0, 10_000)).rejects.toThrow('at most 10000 blocks')
  await expect(request(1, 1, '-')).rejects.toThrow('reason')
  await request(1, 1)
  await expect(request(1, 1)).rejects.toThrow('has not ended')
  await path.services.rescan(path.fakes.btc.chain)
  const [act] = await path.database.query<{ act: string; detail: object }>(
    'select act, detail from operator_acts order by id desc limit 1',
  )
  expect(act).toMatchObject({ act: 'rescan', detail: { from: 1, to: 1 } })
})
