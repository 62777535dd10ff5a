import { expect, test } from 'vitest'
import type { Partner } from '../../core/domain/partner.ts'
import { bookParts, btc, eth, makeBook, makeCurrency, NOW } from '../domain/pricing.fixture.ts'
import type { Chain } from '../ports/chain.ts'
import type { NewExchange } from '../ports/store/exchanges.ts'
import { createBookSnapshot } from '../quotes/book-snapshot.ts'
import type { ChosenIntermediary } from '../quotes/choose-intermediary.ts'
import { guardDefaults } from '../settings.ts'
import { type CreatePrivateDeps, createCreatePrivateExchange } from './create-private-exchange.ts'

const ltc = makeCurrency('ltc', 'ltc', { dustUnits: 546n })
const partner: Partner = {
  id: 'p',
  name: 'p',
  feeBps: 25,
  suspended: false,
  openExchangesMax: 10,
  rateLimitPerMinute: 1,
  strict: false,
  refundToSender: false,
  defaultRecipients: new Map(),
}
const considered = [{ assetId: 'ltc@ltc', toUnits: '1', seconds: 9 }] as const
const quote = {
  from: btc.asset,
  to: eth.asset,
  flow: 'standard',
  fromUnits: 10n ** 8n,
  toUnits: 77n,
  minUnits: 1n,
  maxUnits: null,
  minToUnits: 1n,
  maxToUnits: null,
  fromUsd: 1n,
  toUsd: 1n,
  fees: { serviceUnits: 0n, partnerUnits: 0n, networkUnits: 0n, payoutUnits: 0n },
  withinBounds: true,
} as const

const quoted = { viaUnits: '1000', toUnits: '80' }

const currencies = new Map([
  ['btc', btc],
  ['eth', eth],
])
/** The holder id is the address without a `network:` prefix. */
const holderId = (address: string) => address.replace(/^.*:/, '')
const chain = (name: string) =>
  ({
    addresses: { parse: (text: string) => text, parseMemo: () => null, hot: () => name, holderId },
  }) as unknown as Chain

/** Collects the rows of `commit` without writing them. */
function create(draws: number[], payoutMaxPpm = 0) {
  const rows: NewExchange[] = []
  const drawBounds: number[] = []
  const chosen: ChosenIntermediary = { via: ltc, quote, quoted, seconds: 9, considered }
  const deps: CreatePrivateDeps = {
    catalogue: { find: (ticker) => currencies.get(ticker) ?? null, findNetwork: () => null },
    books: createBookSnapshot(makeBook(bookParts)),
    clock: { now: () => NOW, databaseNow: () => NOW },
    chains: new Map([
      ['btc', chain('b')],
      ['eth', chain('e')],
    ]),
    rateIds: {
      issue: () => 'x',
      read: () => {
        throw new Error('a private create reads no rateId')
      },
    } as never,
    quoteRate: () => {
      throw new Error('quoteRate is not needed')
    },
    allocateDeposit: async () => ({ destination: { address: 'd', memo: null }, keyIndex: 1 }),
    commit: async (row) => {
      rows.push(row)
      return { kind: 'rate_used' }
    },
    findByIdempotencyKey: async () => null,
    countOpen: async () => 0,
    expectations: { confirmationsOf: () => 3, secondsOf: () => 900 },
    screening: { screen: async () => 'allow' },
    settings: { guards: guardDefaults } as CreatePrivateDeps['settings'],
    chooseIntermediary: () => chosen,
    privacy: { delayMaxMs: 600_000, withheldMaxPpm: 10_000, payoutMaxPpm, stallMs: 5 },
    draw: (below) => {
      drawBounds.push(below)
      return draws.shift() ?? 0
    },
  }
  const order = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth', fromAmount: '1' }
  const make = (addresses: Readonly<{ address?: string; refundAddress?: string }>, caller = partner) =>
    createCreatePrivateExchange(deps)(caller, { ...order, ...addresses, privateType: 'efficient' }, null)
  const run = async () => {
    await make({ address: 'r' }).catch(() => undefined)
    return drawBounds
  }
  return { rows, run, make }
}

test.each([['r'], ['btc:r']])('rejects a refund address of the recipient: %s', async (refundAddress) => {
  const { rows, make } = create([])
  const refused = { problems: [{ code: 'INVALID_REFUND_ADDRESS', field: 'refundAddress' }] }
  await expect(make({ address: 'r', refundAddress })).rejects.toMatchObject(refused)
  const byDefault = { ...partner, defaultRecipients: new Map([['eth@eth', { address: 'r', memo: null }]]) } as Partner
  await expect(make({ refundAddress }, byDefault)).rejects.toMatchObject(refused)
  expect(rows).toEqual([])
  await expect(make({ address: 'r', refundAddress: 'btc:other' })).rejects.toMatchObject({ code: 'RATE_ID_USED' })
  expect(rows).toHaveLength(1)
})

test('creates two legs with values drawn from the published ranges', async () => {
  const { rows, run } = create([0, 600_000, 9_000])
  // Delays of 0 to 600 000 ms; 1 000 to 10 000 ppm.
  expect(await run()).toEqual([600_001, 600_001, 9_001])
  expect(rows).toMatchObject([
    {
      type: 'private',
      flow: 'standard',
      legs: [
        { from: btc.asset, to: ltc.asset },
        { from: ltc.asset, to: eth.asset },
      ],
      toUnits: 77n,
      rate: null,
      partnerFeeBps: 25,
      plan: { privateType: 'efficient', delaysMs: [0, 600_000], withheldPpm: 10_000, stallMs: 5, considered, quoted },
    },
  ])
})

test('withholds at least a tenth of the maximum', async () => {
  const { rows, run } = create([7, 8, 0])
  await run()
  expect(rows[0]?.plan).toMatchObject({ delaysMs: [7, 8], withheldPpm: 1_000 })
})

test('draws a payout difference symmetric around zero if the operator allows it', async () => {
  const { rows, run } = create([7, 8, 0, 0], 3_000)
  // 6 001 values around zero.
  expect(await run()).toEqual([600_001, 600_001, 9_001, 6_001])
  expect(rows[0]?.plan).toMatchObject({ payoutPpm: -3_000 })
  const other = create([7, 8, 0, 6_000], 3_000)
  await other.run()
  expect(other.rows[0]?.plan).toMatchObject({ payoutPpm: 3_000 })
})
