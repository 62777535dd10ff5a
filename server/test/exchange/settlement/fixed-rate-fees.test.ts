import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Account } from '../../../src/core/domain/ledger/chart.ts'
import { conversionId, partnerAccount } from '../../../src/core/domain/ledger/entries.ts'
import { btc, eth, price, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { pricePair, quoteUnits } from '../../../src/exchange/domain/pricing.ts'
import { present } from '../../../src/lib/assert.ts'
import { absolute } from '../../../src/lib/bigint.ts'
import { COIN, ETHER, partnerId, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
let whole: ReturnType<typeof path.books.current>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 10n * COIN, eth: 100n * ETHER })
  whole = path.books.current()
})
afterEach(() => path.books.replace(whole))
afterAll(() => path.close())

const partnerFeeBps = 100
const ofBitcoin = { from: btc, to: eth, units: COIN / 25n }
const ofTether = { from: usdt, to: btc, units: 500_000_000n }

/** Creates at the fixed rate of today's prices, as `create-exchange` does, and returns the quote with it. */
async function createQuoted({ from, to, units }: typeof ofBitcoin) {
  const quote = quoteUnits(pricePair(whole, { from, to, flow: 'fixed-rate', partnerFeeBps }, Date.now()), units)
  const { serviceUnits, partnerUnits, networkUnits } = quote.fees
  const exchange = await path.createExchange({
    flow: 'fixed-rate',
    from,
    to,
    partnerFeeBps,
    fromUnits: units,
    toUnits: quote.toUnits,
    quotedFees: { grossUnits: quote.toUnits + serviceUnits + partnerUnits + networkUnits, networkUnits },
  })
  return { exchange, quote }
}

/** What the conversion credited in the target currency, by account. */
async function creditsOf(exchange: Awaited<ReturnType<typeof createQuoted>>['exchange'], assetId: string) {
  const { orderId } = await path.readExecution(exchange)
  const entry = present(await path.store.ledger.entry(conversionId(present(orderId, 'an order'))), 'a conversion')
  const credits = new Map<string, bigint>()
  for (const { credit, ...posting } of entry.postings)
    if (posting.assetId === assetId) credits.set(credit, (credits.get(credit) ?? 0n) + posting.units)
  return credits
}

const withoutReserve = () => {
  const available = new Map([...whole.reserves.available, ['eth@eth', 1n] as const])
  return { reserves: { ...whole.reserves, available } }
}
const offThePeg = () => ({
  prices: { ...whole.prices, usd: new Map([...whole.prices.usd, ['usdt', price('0.9', '0.9')]]) },
})

test.each([
  ['with current prices', ofBitcoin, () => ({})],
  ['with stale prices', ofBitcoin, () => ({ prices: { ...whole.prices, at: Date.now() - 86_400_000 } })],
  ['with a reserve below the minimum', ofBitcoin, withoutReserve],
  ['in a stablecoin off its peg', ofTether, offThePeg],
] as const)('a fixed rate that is executed %s credits the fees that the quote stated', async (_, order, change) => {
  const { exchange, quote } = await createQuoted(order)
  path.books.replace(change())
  path.payDeposit(exchange, order.units)
  await path.mineBlocks(12)
  const execution = await path.readExecution(exchange)
  expect([execution.rateKind, execution.dueUnits]).toEqual(['fixed', quote.toUnits])
  const credits = await creditsOf(exchange, order.to.asset.id)
  // The quote rounds its amounts to 15 digits: the shares differ by that at most.
  const isNear = (account: string, expected: bigint) =>
    absolute((credits.get(account as Account) ?? 0n) - expected) <= quote.toUnits / 10n ** 14n + 1n
  const { partnerUnits, networkUnits, serviceUnits } = quote.fees
  expect(partnerUnits).toBeGreaterThan(0n)
  expect({ partner: isNear(partnerAccount(partnerId), partnerUnits) }).toEqual({ partner: true })
  expect(credits.get('income:network-fee')).toBe(networkUnits)
  if (order === ofBitcoin) expect(isNear('income:spread', serviceUnits)).toBe(true)
  await path.expectBalanced()
})

test('a fixed rate that is paid after its market moved against us books the loss as a negative spread', async () => {
  const { exchange, quote } = await createQuoted(ofBitcoin)
  const spreadBefore = await path.store.ledger.balance('income:spread', 'eth@eth')
  // 3 % below the prices of the quote.
  const usd = new Map([...whole.prices.usd, ['btc', price('96990.3', '97009.7')] as const])
  path.books.replace({ prices: { ...whole.prices, usd } })
  path.payDeposit(exchange, ofBitcoin.units)
  await path.mineBlocks(12)
  expect(await path.readStatus(exchange)).toBe('finished')
  const [payment] = path.fakes.eth.listPayments(exchange.recipient?.address ?? '')
  expect(payment?.units).toBe(quote.toUnits)
  // What the deposit is worth now: bitcoin at the bid, ether at the ask of 4001 dollars.
  const gross = (ofBitcoin.units * 10n ** 10n * 969_903n) / 40_010n
  const period = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 86_400_000) }
  const [revenue] = (await path.store.reports.revenue(period, 'exchange', 1_000)).filter(
    ({ group }) => group === exchange.id,
  )
  const { spread = 0n, partnerFees = 0n, networkFees = 0n } = revenue ?? {}
  expect(spread + partnerFees + networkFees).toBe(gross - quote.toUnits)
  // The partner and the network fee are those of the quote: the whole loss is in the spread.
  expect([networkFees, spread < gross - quote.toUnits]).toEqual([quote.fees.networkUnits, true])
  expect(await path.store.ledger.balance('income:spread', 'eth@eth')).toBe(spreadBefore - spread)
  await path.expectBalanced()
})
