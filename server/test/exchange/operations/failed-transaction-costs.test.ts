import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { tamper } from '../../../../test/support/tamper.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import type { CostRow, Period } from '../../../src/exchange/ports/store/reports.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/* The report of costs about transactions that paid nothing, or no longer. */
const DAY_MS = 86_400_000
const LIMIT = 1_000
/** The fee of each transaction on the chain in memory of ethereum: 21 000 gas at a rate of 10. */
const FEE = 210_000n
/** More blocks than make a transaction of the fake chains final. */
const FINAL = 13
const note = { actor: 'anna', reason: 'looked at it' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const periodOf = (fromDays: number, toDays: number): Period => ({
  from: new Date(Date.now() + fromDays * DAY_MS),
  to: new Date(Date.now() + toDays * DAY_MS),
})
const present = periodOf(-1, 1)
const listCosts = (period = present) => fixture.store.reports.costs(period, 'exchange', LIMIT)
/** What an exchange cost in ether. */
const costOf = async ({ id }: Exchange, period = present) =>
  (await listCosts(period)).find(({ group, assetId }) => group === id && assetId === 'eth@eth')
/** What our transactions do that are mined meanwhile fails. */
async function failTransactions(work: () => Promise<unknown>): Promise<void> {
  fixture.fakes.eth.behaviour.revertsTransactions = true
  await work()
  await fixture.mineBlocks(FINAL)
  fixture.fakes.eth.behaviour.revertsTransactions = false
}
const sweep = () => fixture.services.sweep(fixture.fakes.eth.chain)
/** Drops the payout to ourselves that failed, so that it is planned again. */
async function dropFailed(purpose: 'gas' | 'sweep'): Promise<void> {
  const [failed, ...others] = await fixture.store.operator.listHeldPayouts(LIMIT)
  expect([failed?.purpose, others]).toEqual([purpose, []])
  await createOperatePayouts(fixture.store).drop(failed?.id ?? '', note)
}

test('the fee of a payout that failed on its chain is a cost of its exchange, beside that of the next one', async () => {
  const exchange = await fixture.queuePayout()
  await failTransactions(() => Promise.resolve())
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'REVERTED' }])
  expect(await costOf(exchange)).toMatchObject({ transactions: 1, payouts: FEE, sweeps: 0n, gas: 0n })
  await fixture.decide(exchange, 'release')
  await fixture.mineBlocks(5)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  expect(await costOf(exchange)).toMatchObject({ transactions: 2, payouts: 2n * FEE, sweeps: 0n, gas: 0n })
})

test('the fee of a sweep that failed is one of sweeps, of the exchange whose address it was to empty', async () => {
  const exchange = await fixture.createExchange({ from: eth, to: btc })
  fixture.payDeposit(exchange, ETHER)
  await fixture.mineBlocks(12)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  await failTransactions(sweep)
  expect(await costOf(exchange)).toMatchObject({ transactions: 1, payouts: 0n, sweeps: FEE, gas: 0n })
  await dropFailed('sweep')
  await sweep()
  await fixture.mineBlocks(5)
  expect(await costOf(exchange)).toMatchObject({ transactions: 2, payouts: 0n, sweeps: 2n * FEE, gas: 0n })
})

test('the fee of a supply of gas that failed is one of gas, of the exchange whose address it was to supply', async () => {
  const exchange = await fixture.createExchange({ from: usdt, to: btc, fromUnits: 500_000_000n })
  fixture.payDeposit(exchange, 500_000_000n)
  await fixture.mineBlocks(12)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  await failTransactions(sweep)
  expect(await costOf(exchange)).toMatchObject({ transactions: 1, payouts: 0n, sweeps: 0n, gas: FEE, stranded: 0n })
  await dropFailed('gas')
})

test('the fee of a payout that left the chain later stays with its exchange in the report of its day', async () => {
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, COIN / 200n)
  await fixture.mineBlocks(6)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  const [paid] = await fixture.database.query<{ id: string; key: string; hash: string }>(
    `select t.id, t.conflict_key as key, a.tx_hash as hash from payouts p join transactions t on t.id = p.transaction_id
     join attempts a on a.transaction_id = t.id where p.exchange_id = $1`,
    [exchange.id],
  )
  await tamper(fixture.database, 'journal', [
    "update journal set at = at - interval '3 days' where id = $1",
    [`transaction:${paid?.id}:fee`],
  ])
  const past = periodOf(-4, -2)
  const reportBefore = await listCosts(past)
  expect(reportBefore).toMatchObject([{ group: exchange.id, assetId: 'eth@eth', payouts: FEE }])
  fixture.fakes.eth.reorg(8, (txHash) => txHash === paid?.hash)
  fixture.fakes.eth.addConflict(paid?.key ?? '')
  await fixture.mineBlocks(14)
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'LOST' }])
  expect(await listCosts(past)).toEqual(reportBefore)
  expect(await costOf(exchange)).toMatchObject({ payouts: -FEE })
})

test('pages of a report have each of its rows once, those without an exchange last', async () => {
  await fixture.insertPayout('eth', 1_000n, 'ours', 'withdrawal')
  await fixture.insertPayout('btc', 10_000n, 'ours', 'withdrawal')
  await fixture.mineBlocks(5)
  const whole = await listCosts()
  expect(whole.filter(({ group }) => group === null)).toEqual(whole.slice(-2))
  expect(whole.slice(-3).map(({ group, assetId }) => [group === null, assetId])).toEqual([
    [false, expect.anything()],
    [true, 'btc@btc'],
    [true, 'eth@eth'],
  ])
  const read: CostRow[] = []
  for (let n = 0; n < whole.length; n += 2)
    read.push(...(await fixture.store.reports.costs(present, 'exchange', 2, read.at(-1))))
  expect(read).toEqual(whole)
  const revenue = await fixture.store.reports.revenue(present, 'exchange', LIMIT)
  expect(revenue.length).toBeGreaterThan(2)
  expect(await fixture.store.reports.revenue(present, 'exchange', LIMIT, revenue[1])).toEqual(revenue.slice(2))
})
