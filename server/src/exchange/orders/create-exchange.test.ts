import { expect, test } from 'vitest'
import type { Partner } from '../../core/domain/partner.ts'
import { bookParts, btc, eth, makeBook, NOW, price } from '../domain/pricing.fixture.ts'
import type { ExchangeOrder } from '../interfaces.ts'
import type { Chain } from '../ports/chain.ts'
import type { NewExchange } from '../ports/store/exchanges.ts'
import { createBookSnapshot } from '../quotes/book-snapshot.ts'
import { createQuoteRate } from '../quotes/quote-rate.ts'
import { createRateIds } from '../quotes/rate-id.ts'
import { guardDefaults } from '../settings.ts'
import { type CreateExchangeDeps, createCreateExchange } from './create-exchange.ts'

const partner: Partner = {
  id: 'p',
  name: 'p',
  feeBps: 0,
  suspended: false,
  openExchangesMax: 10,
  rateLimitPerMinute: 1,
  strict: false,
  refundToSender: false,
  defaultRecipients: new Map(),
}
const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
const currencies = new Map([
  ['btc', btc],
  ['eth', eth],
])
const chain = {
  addresses: { parse: (text: string) => text, parseMemo: () => null, hot: () => 'hot' },
} as unknown as Chain

/** Quotes 1 BTC at 4 001 dollars per ether, moves the price of ether and the reserves, and creates with the rateId of the quote. */
async function createAfterMove(
  flow: ExchangeOrder['flow'],
  etherUsd: string,
  changes: Partial<CreateExchangeDeps> = {},
  reserves = bookParts.reserves,
  terms: Partial<ExchangeOrder> = {},
) {
  const rows: NewExchange[] = []
  const books = createBookSnapshot(makeBook(bookParts))
  const catalogue = { find: (ticker: string) => currencies.get(ticker) ?? null, findNetwork: () => null }
  const clock = { now: () => NOW, databaseNow: () => NOW }
  const rateIds = createRateIds(Buffer.alloc(32, 7))
  const quoteRate = createQuoteRate({ catalogue, books, rateIds, clock, rateIdTtlMs: 60_000 })
  const deps = {
    catalogue,
    books,
    clock,
    rateIds,
    quoteRate,
    chains: new Map([
      ['btc', chain],
      ['eth', chain],
    ]),
    allocateDeposit: async () => ({ destination: { address: 'd', memo: null }, keyIndex: 1 }),
    commit: async (row: NewExchange) => {
      rows.push(row)
      return { kind: 'rate_used' }
    },
    findByIdempotencyKey: async () => null,
    countOpen: async () => 0,
    expectations: { confirmationsOf: () => 3, secondsOf: () => 900 },
    screening: { screen: async () => 'allow' },
    settings: { guards: guardDefaults },
    ...changes,
  } as unknown as CreateExchangeDeps
  const { quote, rateId } = quoteRate(partner, { ...pair, flow, amount: '1' })
  const prices = { ...bookParts.prices, eth: price(etherUsd, etherUsd) }
  books.replace(makeBook({ ...bookParts, prices, reserves }))
  const order = { ...pair, flow, fromAmount: '1', address: 'a', rateId: rateId ?? '', ...terms }
  const failure = await createCreateExchange(deps)(partner, order, null).catch((error: unknown) => error)
  return { failure, rows, quote }
}

// M2: a rateId was honoured for 60 seconds whatever the market did. Ether at 4 001 dollars in the quote.
test.each(['fixed-rate', 'standard'] as const)(
  'M2: refuses a rateId of %s after the price moved against us',
  async (flow) => {
    // 4 001 × 1.006: the ether that was promised is worth 60 basis points more than at the quote.
    const { failure, rows, quote } = await createAfterMove(flow, '4025.006')
    expect(failure).toMatchObject({ code: 'RATE_ID_EXPIRED', problems: [{ field: 'rateId' }] })
    const [problem] = (failure as { problems: { requote: { quote: typeof quote; rateId: string } }[] }).problems
    expect(problem?.requote.rateId).toEqual(expect.any(String))
    const ratio = Number(problem?.requote.quote.toUnits) / Number(quote.toUnits)
    expect(ratio).toBeCloseTo(1 / 1.006, 5)
    expect(rows).toEqual([])
  },
)

test('keeps a rateId if the price moved by at most the limit, or in our favour', async () => {
  // 40 basis points against us, and 5 % in our favour.
  for (const etherUsd of ['4017', '3800']) {
    const { rows, quote } = await createAfterMove('fixed-rate', etherUsd)
    expect(rows.map(({ toUnits }) => toUnits)).toEqual([quote.toUnits])
  }
})

// Such a deposit was above the maximum of its own create, and refunded instead of waiting for the reserve.
test('the maximum of a create with a rateId covers its amount, also if the reserve has shrunk since the quote', async () => {
  const reserves = { ...bookParts.reserves, 'eth@eth': 10n ** 18n }
  const { rows } = await createAfterMove('standard', '4001', {}, reserves)
  expect(rows.map(({ fromUnits, maxUnits }) => [fromUnits, maxUnits])).toEqual([[100_000_000n, 100_000_000n]])
  const { rows: unchanged, quote } = await createAfterMove('standard', '4001')
  expect(unchanged.map(({ maxUnits }) => maxUnits)).toEqual([quote.maxUnits])
})

// Cut to 15 digits, as in the quote, the customer paid more than the order, and a fixed rate paid more than it promised.
test('stores the ordered amount with all its digits, and its maximum covers it', async () => {
  const back = {
    fromCurrency: 'eth',
    fromNetwork: 'eth',
    toCurrency: 'btc',
    toNetwork: 'btc',
    rateId: undefined as never,
  }
  const units = 1_234_567_890_123_456_789n
  const { rows } = await createAfterMove('standard', '4001', {}, bookParts.reserves, {
    ...back,
    fromAmount: '1.234567890123456789',
  })
  expect(rows.map(({ fromUnits }) => fromUnits)).toEqual([units])
  expect(rows[0]?.maxUnits ?? units).toBeGreaterThanOrEqual(units)
})

// Each refused create of a partner at its limit made three calls to every node.
test('asks no node about the recipient of a create above the limit of open exchanges', async () => {
  const asked: string[] = []
  const sender = { extraGas: async (address: string) => BigInt(asked.push(address)) }
  const chains = new Map(['btc', 'eth'].map((id) => [id, { ...chain, sender } as unknown as Chain]))
  const refused = await createAfterMove('standard', '4001', { chains, countOpen: async () => partner.openExchangesMax })
  expect(refused.failure).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  expect(asked).toEqual([])
  const { rows } = await createAfterMove('standard', '4001', { chains })
  expect([asked, rows.length]).toEqual([['a'], 1])
})

// M21: only the recipient was asked about, and a refund is paid by the same wallet.
test('M21: refuses a refund address whose contract burns gas', async () => {
  const sender = { extraGas: async (address: string) => (address === 'burner' ? 429_000n : 0n) }
  const chains = new Map(['btc', 'eth'].map((id) => [id, { ...chain, sender } as unknown as Chain]))
  const create = (refundAddress: string) =>
    createAfterMove('standard', '4001', { chains }, bookParts.reserves, { refundAddress })
  const refused = await create('burner')
  expect(refused.failure).toMatchObject({ code: 'INVALID_REFUND_ADDRESS', problems: [{ field: 'refundAddress' }] })
  expect(refused.rows).toEqual([])
  expect((await create('wallet')).rows).toHaveLength(1)
})
