import { describe, expect, it } from 'vitest'
import { formatUnits } from '../../core/domain/amount.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { bookParts, btc, eth, makeBook, NOW, shib, usdt } from '../domain/pricing.fixture.ts'
import { pricePair } from '../domain/pricing.ts'
import type { ExchangeOrder } from '../interfaces.ts'
import type { Chain } from '../ports/chain.ts'
import { createBookSnapshot } from '../quotes/book-snapshot.ts'
import { createRateIds } from '../quotes/rate-id.ts'
import { readOrder } from './read-order.ts'

const listed = [btc, eth, usdt, shib]
const partner: Partner = {
  id: 'partner-a',
  name: 'A',
  feeBps: 50,
  suspended: false,
  openExchangesMax: 10,
  rateLimitPerMinute: 100,
  strict: false,
  refundToSender: false,
  defaultRecipients: new Map(),
}
const order: ExchangeOrder = {
  fromCurrency: 'btc',
  fromNetwork: 'btc',
  toCurrency: 'eth',
  toNetwork: 'eth',
  fromAmount: '0.1',
  flow: 'standard',
  address: 'eth:one',
  refundAddress: 'btc:one',
}

/** A chain whose addresses begin with its name. */
function chainOf(network: Chain['network']): Chain {
  const fail = async () => Promise.reject(new Error('readOrder uses only memory'))
  const unused = new Proxy({}, { get: () => fail })
  return {
    network,
    addresses: {
      parse: (text) => (text.startsWith(`${network.id}:`) ? text : null),
      parseMemo: () => null,
      deposit: (index) => ({ address: `${network.id}:${index}`, memo: null }),
      hot: () => `${network.id}:hot`,
      change: () => `${network.id}:hot`,
    },
    reader: unused as Chain['reader'],
    sender: unused as Chain['sender'],
  }
}

function read(change: Partial<ExchangeOrder>, now = NOW, parts = bookParts) {
  const deps = {
    catalogue: {
      find: (ticker: string, network: string) =>
        listed.find(({ asset }) => asset.ticker === ticker && asset.network === network) ?? null,
      findNetwork: (id: string) => listed.find(({ network }) => network.id === id)?.network ?? null,
    },
    books: createBookSnapshot(makeBook(parts)),
    clock: { now: () => now, databaseNow: () => now },
    chains: new Map([btc, eth].map(({ network }) => [network.id, chainOf(network)])),
    rateIds: createRateIds(Buffer.alloc(32, 7)),
  }
  return readOrder(deps, partner, { ...order, ...change })
}

function problemsOf(change: Partial<ExchangeOrder>, now = NOW) {
  try {
    read(change, now)
  } catch (error) {
    const { code, problems } = error as { code: string; problems: { code: string; field?: string }[] }
    return [code, ...problems.map((problem) => `${problem.field}: ${problem.code}`)]
  }
  throw new Error('the order was read')
}

const badAddresses = { address: 'nowhere', refundAddress: 'nowhere' }
const addressProblems = ['address: INVALID_ADDRESS', 'refundAddress: INVALID_REFUND_ADDRESS']

describe('readOrder', () => {
  it('reads every member', () => {
    expect(read({})).toMatchObject({
      from: btc,
      to: eth,
      quote: { withinBounds: true },
      recipient: { address: 'eth:one', memo: null },
      refund: { address: 'btc:one', memo: null },
      rate: null,
    })
  })

  it.each<[string, Partial<ExchangeOrder>, readonly string[]]>([
    [
      'precision and addresses',
      { fromAmount: '0.000000001', ...badAddresses },
      ['AMOUNT_PRECISION', 'fromAmount: AMOUNT_PRECISION', ...addressProblems],
    ],
    [
      'tickers, a malformed amount and addresses, which their networks check',
      { fromCurrency: 'zzz', toCurrency: 'yyy', fromAmount: '1e5', ...badAddresses },
      [
        'CURRENCY_NOT_FOUND',
        'fromCurrency: CURRENCY_NOT_FOUND',
        'toCurrency: CURRENCY_NOT_FOUND',
        'fromAmount: AMOUNT_MALFORMED',
        ...addressProblems,
      ],
    ],
    [
      'an address and a memo of ours',
      { address: 'eth:hot', memo: '1', refundAddress: 'nowhere' },
      [
        'ADDRESS_IS_OURS',
        'address: ADDRESS_IS_OURS',
        'memo: MEMO_NOT_SUPPORTED',
        'refundAddress: INVALID_REFUND_ADDRESS',
      ],
    ],
    [
      'addresses before bounds, which change with prices',
      { fromAmount: '0.00000001', ...badAddresses },
      ['INVALID_ADDRESS', ...addressProblems, 'fromAmount: AMOUNT_BELOW_MIN'],
    ],
    [
      'a foreign rateId and bounds',
      { rateId: 'AAAA', fromAmount: '0.00000001' },
      ['RATE_ID_INVALID', 'rateId: RATE_ID_INVALID', 'fromAmount: AMOUNT_BELOW_MIN'],
    ],
    [
      'a missing rateId and an address',
      { flow: 'fixed-rate', address: 'nowhere' },
      ['INVALID_ADDRESS', 'address: INVALID_ADDRESS', 'rateId: RATE_ID_REQUIRED'],
    ],
    [
      'a pair without fixed rates, its missing rateId and an address',
      { flow: 'fixed-rate', toCurrency: 'shib', address: 'nowhere' },
      ['INVALID_ADDRESS', 'address: INVALID_ADDRESS', 'rateId: RATE_ID_REQUIRED', 'flow: FIXED_RATE_UNSUPPORTED'],
    ],
  ])('reports all problems, those to correct first: %s', (_name, change, expected) => {
    expect(problemsOf(change)).toEqual(expected)
  })

  it.each([
    ['0.00000001', 'AMOUNT_BELOW_MIN', /^fromAmount 0\.00000001 is below the minimum of [0-9.]+ BTC$/],
    ['1000000', 'AMOUNT_ABOVE_MAX', /^fromAmount 1000000 is above the maximum of [0-9.]+ BTC$/],
  ])('states both bounds as text: %s', (fromAmount, code, message) => {
    const { quote } = read({})
    const [min, max] = [quote.minUnits, quote.maxUnits].map((units) => Number(units) / 1e8)
    let problem: Record<string, unknown> = {}
    try {
      read({ fromAmount })
    } catch (error) {
      problem = (error as { problems: Record<string, unknown>[] }).problems[0] ?? {}
    }
    expect(problem).toMatchObject({ code, field: 'fromAmount', currency: 'btc', network: 'btc' })
    expect(problem['message']).toMatch(message)
    expect([typeof problem['min'], typeof problem['max']]).toEqual(['string', 'string'])
    expect([Number(problem['min']), Number(problem['max'])]).toEqual([min, max])
  })

  // A create that succeeds above the maximum of the quote would be a measurement of the exact reserve.
  it('refuses an amount that only the exact reserve covers, as the quote does', () => {
    const parts = { ...bookParts, reserves: { ...bookParts.reserves, 'eth@eth': 109n * 10n ** 18n } }
    const readIn = (fromUnits: bigint) => read({ fromAmount: formatUnits(fromUnits, 8) }, NOW, parts)
    const pair = { from: btc, to: eth, flow: 'standard', partnerFeeBps: partner.feeBps } as const
    const exactMax = pricePair(makeBook(parts), pair, NOW).maxUnits ?? 0n
    const { maxUnits } = readIn(10_000_000n).quote
    expect(maxUnits).toBe(pricePair(makeBook(bookParts), pair, NOW).maxUnits)
    expect(readIn(maxUnits ?? 0n).quote.withinBounds).toBe(true)
    const refused = expect.objectContaining({
      problems: [expect.objectContaining({ code: 'AMOUNT_ABOVE_MAX', max: formatUnits(maxUnits ?? 0n, 8) })],
    })
    for (const units of [exactMax, (maxUnits ?? 0n) + 1n]) expect(() => readIn(units)).toThrow(refused)
  })

  it('reports outdated rates after the problems that the caller must correct', () => {
    expect(problemsOf({}, NOW + 3_600_000)[0]).toBe('RATES_UNAVAILABLE')
    expect(problemsOf(badAddresses, NOW + 3_600_000)).toEqual([
      'INVALID_ADDRESS',
      ...addressProblems,
      'undefined: RATES_UNAVAILABLE',
    ])
  })

  it('does not check addresses on an unknown network', () => {
    expect(problemsOf({ fromCurrency: 'zzz', fromNetwork: 'nowhere', refundAddress: 'x' })).toEqual([
      'CURRENCY_NOT_FOUND',
      'fromCurrency: CURRENCY_NOT_FOUND',
    ])
  })
})
