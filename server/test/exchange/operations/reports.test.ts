import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import type { Period } from '../../../src/exchange/ports/store/reports.ts'
import { COIN, ETHER, partnerId, startMoneyPath } from '../money-path.ts'

/** The fee of every transaction on the chain in memory of bitcoin. */
const BITCOIN_FEE = 1_000n
/** What the fixture's book charges for a payout of ether. */
const ETHER_FEE = 210_000_000_000_000n
const LIMIT = 1_000

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let toEther: Exchange
let toBitcoin: Exchange
let fromToken: Exchange
/** Paid by one transaction. */
let batched: readonly Exchange[]
let dust: Exchange
const today = new Date(new Date().toISOString().slice(0, 10))
const period: Period = { from: new Date(today.getTime() - 86_400_000), to: new Date(today.getTime() + 2 * 86_400_000) }
const before: Period = { from: new Date('2020-01-01'), to: period.from }
const after: Period = { from: period.to, to: new Date(period.to.getTime() + 86_400_000) }

beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
  toEther = await fixture.createExchange()
  toBitcoin = await fixture.createExchange({ from: eth, to: btc })
  fixture.payDeposit(toEther, COIN / 200n)
  fixture.payDeposit(toBitcoin, ETHER)
  await fixture.mineBlocks(12)
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.mineBlocks(4)
  fromToken = await fixture.createExchange({ from: usdt, to: btc, fromUnits: 500_000_000n })
  fixture.payDeposit(fromToken, 500_000_000n)
  await fixture.mineBlocks(12)
  // Supplies the gas; it then costs less than was supplied.
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.mineBlocks(4)
  fixture.fakes.eth.behaviour.feeRate = 4n
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.mineBlocks(4)
  await fixture.store.pauses.pause('payouts:btc', 'collect two payouts', 'the test')
  batched = await Promise.all([1, 2, 3].map(() => fixture.createExchange({ from: eth, to: btc })))
  for (const exchange of batched) fixture.payDeposit(exchange, ETHER)
  await fixture.mineBlocks(12)
  await fixture.store.pauses.resume('payouts:btc')
  await fixture.clearHolds()
  await fixture.mineBlocks(12)
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.mineBlocks(4)
  dust = await fixture.createExchange()
  fixture.payDeposit(dust, 1_600n)
  await fixture.mineBlocks(12)
})
afterAll(() => fixture.close())

const revenueOf = async ({ id }: Exchange) =>
  (await fixture.store.reports.revenue(period, 'exchange', LIMIT)).filter(({ group }) => group === id)
const costsOf = async ({ id }: Exchange) =>
  (await fixture.store.reports.costs(period, 'exchange', LIMIT)).filter(({ group }) => group === id)

test('the revenue of an exchange is its spread, its network fee and the fee of its partner', async () => {
  expect(await fixture.readStatus(toEther)).toBe('finished')
  const [row, ...more] = await revenueOf(toEther)
  expect(more).toEqual([])
  // 0.005 bitcoin at the bid of 99 990 dollars, in ether at the ask of 4001.
  const gross = (500_000n * 10n ** 10n * 99_990n) / 4_001n
  expect(row).toMatchObject({ assetId: 'eth@eth', exchanges: 1, networkFees: ETHER_FEE, dust: 0n })
  const [payment] = fixture.fakes.eth.listPayments(toEther.recipient?.address ?? '')
  const { spread = 0n, partnerFees = 0n, networkFees = 0n } = row ?? {}
  // All that the customer gave up, to the unit.
  expect(spread + partnerFees + networkFees).toBe(gross - (payment?.units ?? 0n))
  // A spread of 40 and a partner's fee of 10 basis points, of slightly different amounts.
  for (const [units, bps] of [
    [spread, 40n],
    [partnerFees, 10n],
  ] as const) {
    expect(units).toBeGreaterThan((gross * bps * 99n) / 1_000_000n)
    expect(units).toBeLessThan((gross * bps * 101n) / 1_000_000n)
  }
})

test('the costs of an exchange are the fees of its payout and of the sweep of its deposit', async () => {
  expect(await fixture.readStatus(toBitcoin)).toBe('finished')
  const costs = await costsOf(toBitcoin)
  expect(costs).toMatchObject([
    { assetId: 'btc@btc', payouts: BITCOIN_FEE, sweeps: 0n, gas: 0n },
    { assetId: 'eth@eth', payouts: 0n, gas: 0n },
  ])
  expect(costs[1]?.sweeps).toBeGreaterThan(0n)
  // A deposit in bitcoin is not swept.
  expect(await costsOf(toEther)).toMatchObject([{ assetId: 'eth@eth', sweeps: 0n, gas: 0n }])
})

test('M4: gas that stays on a deposit address after its sweep is a cost of its exchange', async () => {
  expect(await fixture.readStatus(fromToken)).toBe('finished')
  const { balanceOf } = fixture.fakes.eth
  expect(balanceOf(fromToken.deposit.address, usdt.asset.contract)).toBe(0n)
  const left = balanceOf(fromToken.deposit.address, null)
  expect(left).toBeGreaterThan(0n)
  // 21 000 gas at a rate of 10 were supplied, and used at a rate of 4.
  const [, cost] = await costsOf(fromToken)
  expect(cost).toMatchObject({ assetId: 'eth@eth', payouts: 0n, sweeps: 84_000n, gas: 210_000n, stranded: left })
  const deposits = [toBitcoin, fromToken, ...batched].map(({ deposit }) => balanceOf(deposit.address, null))
  expect(await fixture.store.ledger.balance('expense:stranded', 'eth@eth')).toBe(deposits.reduce((a, b) => a + b))
  expect(await fixture.store.ledger.balance('asset:deposits', 'eth@eth')).toBe(0n)
})

test('a transaction of three payouts divides its fee among their exchanges, and the first one takes the rest', async () => {
  const shares = await Promise.all(batched.map(async (exchange) => (await costsOf(exchange))[0]))
  expect(shares.map((share) => [share?.assetId, share?.payouts]).toSorted()).toEqual(
    [334n, 333n, 333n].map((units) => ['btc@btc', units]).toSorted(),
  )
})

test('a deposit that does not cover its own refund is revenue, and costs nothing', async () => {
  expect(await fixture.readStatus(dust)).toBe('failed')
  expect(await costsOf(dust)).toEqual([])
  const nothing = { spread: 0n, partnerFees: 0n, networkFees: 0n }
  expect(await revenueOf(dust)).toMatchObject([{ assetId: 'btc@btc', exchanges: 1, ...nothing, dust: 1_600n }])
})

test('every grouping has the same sums, and the costs are those that the ledger booked', async () => {
  const booked = await fixture.store.ledger.balances('expense:network-fee')
  const stranded = await fixture.store.ledger.balance('expense:stranded', 'eth@eth')
  for (const grouping of ['day', 'pair', 'partner', 'exchange'] as const) {
    const costs = await fixture.store.reports.costs(period, grouping, LIMIT)
    const revenue = await fixture.store.reports.revenue(period, grouping, LIMIT)
    for (const [assetId, units] of booked) {
      const rows = costs.filter((row) => row.assetId === assetId)
      expect(rows.reduce((sum, { payouts, sweeps, gas }) => sum + payouts + sweeps + gas, 0n)).toBe(units)
    }
    expect(costs.reduce((sum, row) => sum + row.stranded, 0n)).toBe(stranded)
    expect(revenue.reduce((sum, { exchanges }) => sum + exchanges, 0)).toBe(7)
  }
  const groups = (await fixture.store.reports.revenue(period, 'pair', LIMIT)).map(({ group }) => group)
  // The dust is in bitcoin, the spread in ether.
  expect(groups).toEqual(['btc@btc/eth@eth', 'btc@btc/eth@eth', 'eth@eth/btc@btc', 'usdt@eth/btc@btc'])
  // The fixture has exchanges, but no row for their partner.
  expect((await fixture.store.reports.revenue(period, 'partner', LIMIT))[0]?.group).toBe(partnerId)
})

test('other periods have neither revenue nor costs', async () => {
  for (const other of [before, after]) {
    expect(await fixture.store.reports.revenue(other, 'day', LIMIT)).toEqual([])
    expect(await fixture.store.reports.costs(other, 'day', LIMIT)).toEqual([])
  }
})

test('the trial balance closes at the balances of the ledger and sums to zero', async () => {
  const rows = await fixture.store.reports.trialBalance(period)
  const closing = (account: string, assetId: string) =>
    rows.find((row) => row.account === account && row.assetId === assetId)?.closing
  for (const [assetId, units] of await fixture.store.ledger.balances('asset:wallet'))
    expect(closing('asset:wallet', assetId)).toBe(units)
  for (const assetId of ['btc@btc', 'eth@eth']) {
    const ofAsset = rows.filter((row) => row.assetId === assetId)
    expect(ofAsset.reduce((sum, row) => sum + row.closing, 0n)).toBe(0n)
    expect(ofAsset.reduce((sum, row) => sum + row.debits - row.credits, 0n)).toBe(0n)
  }
  for (const { opening, debits, credits, closing } of rows) expect([opening, debits - credits]).toEqual([0n, closing])
  // Both exchanges are paid. One row stands for the accounts of all exchanges.
  expect(closing('liability:exchange', 'btc@btc')).toBe(0n)
  expect(rows.filter(({ account }) => account.startsWith('liability:exchange:'))).toEqual([])
  const later = await fixture.store.reports.trialBalance(after)
  for (const row of later) expect([row.opening, row.debits, row.credits]).toEqual([row.closing, 0n, 0n])
  expect(later.map(({ closing }) => closing)).toEqual(rows.map(({ closing }) => closing))
})
