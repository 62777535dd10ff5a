import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, price, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createWatchPegs } from '../../../src/exchange/operations/watch-pegs.ts'
import { createStepExchange } from '../../../src/exchange/settlement/step-exchange.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
let whole: ReturnType<typeof path.books.current>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 10n * COIN, eth: 14n * ETHER })
  whole = path.books.current()
})
afterAll(() => path.close())
beforeEach(() => path.books.replace(whole))
afterEach(() => path.expectBalanced())

const PAID = COIN / 25n
/** 0.04 BTC for an ether, less half a percent; the quote's maximum was 0.1 BTC. */
const create = (maxUnits: bigint | null = COIN / 10n) =>
  path.createExchange({ fromUnits: PAID, toUnits: (995n * ETHER) / 1_000n, maxUnits })
const setReserve = (units: bigint) =>
  path.books.replace({ reserves: { ...whole.reserves, available: new Map([['eth@eth', units]]) } })
const setEtherPrice = (usd: string) =>
  path.books.replace({ prices: { ...whole.prices, usd: new Map([...whole.prices.usd, ['eth', price(usd, usd)]]) } })
const pass = async (exchange: Exchange, minutes: number) => {
  await path.database.query(
    `update executions set waits_since = waits_since - interval '${minutes} minutes' where exchange_id = $1`,
    [exchange.id],
  )
  await path.runJobs()
}
const payAndConfirm = async (exchange: Exchange) => {
  path.payDeposit(exchange, PAID)
  await path.mineBlocks(5)
}

// M3: what other customers had promised to themselves made a deposit a refund, less the network fee.
describe('M3: a deposit within the bounds of its create that finds no reserve', () => {
  test('waits, and is executed when there is a reserve', async () => {
    const exchange = await create()
    setReserve(ETHER / 2n)
    await payAndConfirm(exchange)
    await pass(exchange, 29)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'exchanging', rateKind: null })
    path.books.replace(whole)
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating', waitsSince: null })
  })

  test('is executed at once if only the rounded figure of the reserve is below it', async () => {
    const exchange = await create()
    // It gives 0.996 ETH; quotes show a reserve of 0.99 ETH.
    setReserve((999n * ETHER) / 1_000n)
    await payAndConfirm(exchange)
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating', waitsSince: null })
  })

  test('waits also if the ledger has less than the book says', async () => {
    const exchange = await create()
    await path.store.transaction((tx) => tx.inventory.reserve('other', 'eth@eth', 12n * ETHER, exchange.id, null))
    await payAndConfirm(exchange)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'exchanging', rateKind: null })
    await path.store.inventory.release('other')
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
  })

  test('is refunded after clocks.reserveWait', async () => {
    const exchange = await create()
    setReserve(ETHER / 2n)
    await payAndConfirm(exchange)
    await pass(exchange, 31)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'refunding', reason: 'ABOVE_MAX' })
  })

  test('does not wait because its price has moved past what quotes promise now, and a larger deposit is refunded', async () => {
    const fromUnits = PAID / 20n
    const accepted = { fromUnits, toUnits: (4_975n * ETHER) / 100_000n, maxUnits: fromUnits }
    const [exact, larger] = [await path.createExchange(accepted), await path.createExchange(accepted)]
    // 0.05 ether were promised at the create. The deposit is worth as much, and the dollars of the limit are worth less now.
    path.books.replace({ reserves: { ...whole.reserves, promised: new Map([['eth@eth', (48n * ETHER) / 1_000n]]) } })
    path.payDeposit(exact, fromUnits)
    path.payDeposit(larger, fromUnits + COIN / 20_000n)
    await path.mineBlocks(5)
    await path.runJobs()
    expect(await path.readExecution(exact)).toMatchObject({ rateKind: 'floating', waitsSince: null })
    expect(await path.readExecution(larger)).toMatchObject({ status: 'refunded', reason: 'ABOVE_MAX' })
  })

  test('waits as long if the reserve does not cover the minimum', async () => {
    const exchange = await create()
    setReserve(0n)
    await payAndConfirm(exchange)
    await pass(exchange, 29)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'exchanging', rateKind: null })
    await pass(exchange, 2)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'refunding', reason: 'NO_LIQUIDITY' })
  })

  // M19: a deposit has one payout or one refund, so it is not split.
  test.each([
    ['is paid as a whole when there is a reserve', 29, { status: 'sending', rateKind: 'mixed' }],
    ['is refunded as a whole after clocks.reserveWait', 31, { status: 'refunding', reason: 'ABOVE_MAX' }],
  ])('M19: at a fixed rate, with an excess that is not covered, waits and %s', async (_title, minutes, outcome) => {
    const order = { fromUnits: PAID, toUnits: (96n * ETHER) / 100n, maxUnits: COIN / 10n }
    const exchange = await path.createExchange({ flow: 'fixed-rate', ...order })
    setReserve(0n)
    path.payDeposit(exchange, (PAID * 105n) / 100n)
    await path.mineBlocks(5)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'exchanging', rateKind: null })
    await pass(exchange, minutes)
    if (minutes < 30) path.books.replace(whole)
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject(outcome)
    expect(await path.listPayouts(exchange)).toHaveLength(1)
  })

  test('is refunded at once if it is above the maximum of its create', async () => {
    const exchange = await create(PAID / 2n)
    setReserve(ETHER / 2n)
    await payAndConfirm(exchange)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'refunding', reason: 'ABOVE_MAX' })
  })
})

// M17: a paused asset turned every deposit of it into a refund.
describe('M17: a pause', () => {
  const pauses = { networks: new Set<string>(), assets: new Set(['eth@eth'] as const) }

  test('of an asset holds a deposit, for any time, and never refunds it', async () => {
    const exchange = await create()
    path.books.replace({ pauses })
    await payAndConfirm(exchange)
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'exchanging', rateKind: null })
    path.books.replace(whole)
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
  })

  test('also holds a fixed rate', async () => {
    const exchange = await path.createExchange({
      flow: 'fixed-rate',
      fromUnits: PAID,
      toUnits: (96n * ETHER) / 100n,
    })
    path.books.replace({ pauses })
    await payAndConfirm(exchange)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'exchanging', rateKind: null })
    path.books.replace(whole)
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'fixed' })
  })

  test('that begins while the terms are computed holds the deposit, too', async () => {
    const exchange = await create()
    path.books.replace({ pauses })
    await payAndConfirm(exchange)
    path.books.replace(whole)
    let reads = 0
    const current = () => (reads++ === 0 ? path.books.current() : { ...path.books.current(), pauses })
    await createStepExchange({ ...path.dependencies, books: { ...path.books, current } })(exchange.id)
    expect(reads).toBeGreaterThan(1)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'exchanging', rateKind: null })
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
  })

  test('stops the time that a deposit waits for the reserve', async () => {
    const exchange = await create()
    setReserve(ETHER / 2n)
    await payAndConfirm(exchange)
    path.books.replace({ pauses })
    await pass(exchange, 60)
    path.books.replace({ pauses: whole.pauses })
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'exchanging' })
    path.books.replace(whole)
    await path.runJobs()
  })
})

// M20: a deposit in a stablecoin that lost its peg was converted at once.
test('M20: a deposit waits while its stablecoin is outside of the band, and is not refunded', async () => {
  const watchPegs = createWatchPegs({ ...path.dependencies, currencies: [usdt] })
  const exchange = await path.createExchange({ from: usdt, to: btc, fromUnits: 500_000_000n })
  const setUsdtPrice = (usd: string) =>
    path.books.replace({ prices: { ...whole.prices, usd: new Map([...whole.prices.usd, ['usdt', price(usd, usd)]]) } })
  setUsdtPrice('0.97')
  path.payDeposit(exchange, 500_000_000n)
  await path.mineBlocks(12)
  await watchPegs()
  expect(await path.readExecution(exchange)).toMatchObject({ status: 'exchanging', rateKind: null })
  expect(await path.store.alarms.find('peg:usdt')).toMatchObject({ severity: 'warning', detail: { usd: '0.97' } })
  // Without a price nothing says that the peg is back.
  path.books.replace({
    prices: { ...whole.prices, usd: new Map([...whole.prices.usd].filter(([key]) => key !== 'usdt')) },
  })
  await watchPegs()
  expect(await path.store.alarms.find('peg:usdt')).not.toBeNull()
  setUsdtPrice('0.99')
  await path.runJobs()
  await watchPegs()
  expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
  expect(await path.store.alarms.find('peg:usdt')).toBeNull()
})

describe('the price guard', () => {
  // 4 000 dollars per ether at the create.
  test.each(['3580', '4480'])('holds a floating conversion at %s dollars, more than 10 % away', async (usd) => {
    const exchange = await create()
    setEtherPrice(usd)
    await payAndConfirm(exchange)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'PRICE_GUARD' })
    expect(await path.listAlarmKinds()).toContain('held')
    path.books.replace(whole)
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
  })

  test.each(['3680', '4360'])('lets one at %s dollars pass, less than 10 % away', async (usd) => {
    const exchange = await create()
    setEtherPrice(usd)
    await payAndConfirm(exchange)
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
  })

  test('says with the hold what was quoted, what the price gives, how far that is, and what is allowed', async () => {
    const exchange = await create()
    setEtherPrice('4800')
    await payAndConfirm(exchange)
    // 0.04 × 99 990 ÷ 4 800, − 0.4 %, − 0.1 %, − 0.00021: 16.696 % less than 0.995.
    const detail = {
      assetId: 'eth@eth',
      quotedUnits: '995000000000000000',
      currentUnits: '828877083000000000',
      movePercent: '-16.7',
      allowedPercent: '10',
    }
    const [event] = await path.database.query<{ detail: unknown }>(
      "select detail from events where exchange_id = $1 and event = 'held'",
      [exchange.id],
    )
    expect(event?.detail).toEqual(detail)
    const { id } = await path.readExecution(exchange)
    expect((await path.store.alarms.find(`held:${id}`))?.detail).toEqual({
      ...{ exchangeId: exchange.id, reason: 'PRICE_GUARD', ...detail },
    })
    await path.decide(exchange, 'refund')
    await path.runJobs()
  })

  test('executes at the market if the operator releases it', async () => {
    const exchange = await create()
    setEtherPrice('4800')
    await payAndConfirm(exchange)
    await path.decide(exchange, 'release')
    await path.runJobs()
    const { rateKind, dueUnits } = await path.readExecution(exchange)
    expect(rateKind).toBe('floating')
    // 4 000 dollars of bitcoin at 4 800 dollars per ether, less the spread.
    expect(dueUnits).toBeGreaterThan((82n * ETHER) / 100n)
    expect(dueUnits).toBeLessThan((84n * ETHER) / 100n)
  })

  test('refunds if the operator decides so', async () => {
    const exchange = await create()
    setEtherPrice('4800')
    await payAndConfirm(exchange)
    await path.decide(exchange, 'refund')
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'refunding', reason: 'OPERATOR' })
  })
})
