import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Asset } from '../../core/domain/asset.ts'
import type { Exchange, ExchangeView, ExecutionView } from '../domain/exchange.ts'
import type { IssuedQuote } from '../domain/rate-quote.ts'
import { type PresentDeps, presentCreated, presentExchange, presentRateQuote } from './present.ts'

function asset(ticker: string, decimals: number): Asset {
  return { id: `${ticker}@net`, ticker, network: 'net', decimals, contract: null }
}

function issued(units: bigint, decimals: number): IssuedQuote {
  const money = asset('coin', decimals)
  const amounts = {
    fromUnits: units,
    toUnits: units,
    minUnits: units,
    maxUnits: units,
    minToUnits: units,
    maxToUnits: units,
  }
  const fees = { serviceUnits: 0n, partnerUnits: 0n, networkUnits: 0n, payoutUnits: 0n }
  const quote = {
    from: money,
    to: money,
    flow: 'standard' as const,
    ...amounts,
    fromUsd: 0n,
    toUsd: 0n,
    fees,
    withinBounds: true,
  }
  return { quote, rateId: null, validUntil: null }
}

/** The expected number from scientific notation, independent of our own formatting. */
function literal(units: bigint, decimals: number): number {
  return Number(`${units}e-${decimals}`)
}

const significant = fc.tuple(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }), fc.nat(20), fc.nat(24))

const exchange: Exchange = {
  id: 'one',
  partnerId: 'p1',
  type: 'standard',
  flow: 'fixed-rate',
  legs: [{ from: asset('aaa', 8), to: asset('bbb', 6) }],
  fromUnits: 100_000_000n,
  toUnits: 2_500_000n,
  estimate: { confirmations: 6, seconds: 1_800 },
  deposit: { address: 'deposit', memo: null },
  recipient: null,
  refund: null,
  status: 'refunded',
  reason: 'BELOW_MIN',
  createdAt: new Date('2026-01-02T03:04:05.006Z'),
  expiresAt: new Date('2026-01-03T03:04:05.006Z'),
  fixedUntil: null,
  fixedInclusionMs: null,
  isCancelled: false,
  externalId: null,
  partnerFeeBps: 0,
  quotedFees: null,
}

function execution(change: Partial<ExecutionView>): ExecutionView {
  return {
    leg: 0,
    status: 'finished',
    reason: null,
    receivedUnits: 100_000_000n,
    sentUnits: 2_500_000n,
    payinHash: 'in',
    payoutHash: 'out',
    refund: null,
    createdAt: exchange.createdAt,
    confirmations: { network: 'net', height: 7, required: 3, seen: 2 },
    ...change,
  }
}

const expectations = {
  confirmationsOf: () => 6,
  secondsOf: () => 1_800,
  secondsOfLeg: () => 900,
  payerSecondsOf: () => 3_600,
}
const deps: PresentDeps = {
  requiresMemo: () => false,
  chainIdOf: () => null,
  assetOf: () => null,
  trackingUrlOf: () => 'http://127.0.0.1/track/one',
  expectations,
}

describe('presentRateQuote', () => {
  test('returns numbers that equal the amounts exactly', () => {
    fc.assert(
      fc.property(significant, ([mantissa, zeros, decimals]) => {
        const units = mantissa * 10n ** BigInt(zeros)
        const quote = presentRateQuote(issued(units, decimals))
        expect([quote.min, quote.max, quote.fromAmount, quote.toAmount]).toEqual(
          Array(4).fill(literal(units, decimals)),
        )
      }),
    )
  })

  test('rounds to 15 digits: min up, the others down', () => {
    const quote = presentRateQuote(issued(1_234_567_890_123_456_789n, 18))
    expect(quote).toMatchObject({ min: 1.23456789012346, max: 1.23456789012345, fromAmount: 1.23456789012345 })
  })

  test('formats dollars to cents from one dollar on, to microdollars below', () => {
    const quote = issued(1n, 0)
    const usd = (fromUsd: bigint) => presentRateQuote({ ...quote, quote: { ...quote.quote, fromUsd } }).amountFromUsd
    expect(usd(64_123_456_789_012_345n)).toBe('64123.45')
    expect(usd(999_999_999_999n)).toBe('0.999999')
    expect(usd(0n)).toBe('0')
  })
})

describe('presentExchange', () => {
  test('formats timestamps like Date.toISOString', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2999-12-31'), noInvalidDate: true }), (createdAt) => {
        const view: ExchangeView = { exchange: { ...exchange, createdAt }, executions: [] }
        expect(presentExchange(view, deps).created).toBe(createdAt.toISOString())
      }),
    )
  })

  test('states a refund in the received asset, even if another one was ordered', () => {
    const other = asset('ccc', 3)
    const back = { address: 'back', memo: null, txHash: null }
    const executions = [
      execution({}),
      execution({ sentUnits: null, refund: { assetId: 'aaa@net', units: 99_000_000n, ...back } }),
      execution({ receivedUnits: null, sentUnits: null, refund: { assetId: other.id, units: 1_500n, ...back } }),
    ]
    const assetOf: PresentDeps['assetOf'] = (id) => (id === other.id ? other : null)
    const { exchanges } = presentExchange({ exchange, executions }, { ...deps, assetOf })
    expect(exchanges.map((item) => [item.amountFromReceived, item.amountToReceived, item.refund])).toEqual([
      ['1', '2.5', null],
      ['1', null, { amount: '0.99', currency: 'aaa', network: 'net', address: 'back', memo: null, hash: null }],
      [null, null, { amount: '1.5', currency: 'ccc', network: 'net', address: 'back', memo: null, hash: null }],
    ])
  })

  test('states each leg of a private exchange in its own assets', () => {
    const intermediary = asset('mmm', 12)
    const [leg] = exchange.legs
    const legs = [
      { from: asset('aaa', 8), to: intermediary },
      { from: intermediary, to: leg?.to ?? intermediary },
    ]
    const executions = [execution({ sentUnits: 10n ** 12n }), execution({ leg: 1, receivedUnits: 10n ** 12n })]
    const { exchanges, request } = presentExchange(
      { exchange: { ...exchange, type: 'private', legs }, executions },
      deps,
    )
    expect(exchanges.map((item) => [item.amountFromReceived, item.amountToReceived])).toEqual([
      ['1', '1'],
      ['1', '2.5'],
    ])
    expect([request.fromCurrency, request.toCurrency]).toEqual(['aaa', 'bbb'])
  })

  test('states the confirmations of the latest open deposit, and an estimate before the first', () => {
    const open = (seen: number) => ({ network: 'net', height: 7, required: 3, seen })
    const confirming = execution({ status: 'confirming', confirmations: open(1) })
    const fields = (executions: readonly ExecutionView[]) => {
      const { confirmationsRequired, confirmationsSeen, expectedSeconds, exchanges } = presentExchange(
        { exchange, executions },
        deps,
      )
      return [
        confirmationsRequired,
        confirmationsSeen,
        expectedSeconds,
        exchanges.map((item) => item.confirmationsSeen),
      ]
    }
    expect(fields([])).toEqual([6, 0, 1_800, []])
    expect(fields([confirming, execution({})])).toEqual([3, 1, 1_800, [1, 2]])
    expect(fields([execution({ confirmations: open(3) })])).toEqual([3, 3, 1_800, [3]])
  })

  test('states the end of the fixed rate and of the exchange, also at the create', () => {
    const fixedUntil = new Date('2026-01-02T03:24:05.006Z')
    const view = { exchange: { ...exchange, fixedUntil }, executions: [] }
    for (const present of [presentExchange, presentCreated])
      expect(present(view, deps)).toMatchObject({
        expiresAt: '2026-01-03T03:04:05.006Z',
        fixedUntil: '2026-01-02T03:24:05.006Z',
      })
    expect(presentCreated({ exchange, executions: [] }, deps).fixedUntil).toBeNull()
  })

  test('throws if a required deposit memo is missing (I-33)', () => {
    fc.assert(
      fc.property(fc.option(fc.string({ minLength: 1 })), fc.boolean(), (memo, required) => {
        const view = { exchange: { ...exchange, deposit: { address: 'deposit', memo } }, executions: [] }
        const rule = { ...deps, requiresMemo: () => required }
        for (const present of [presentExchange, presentCreated]) {
          if (required && memo === null) expect(() => present(view, rule)).toThrow('memo')
          else expect(present(view, rule).request.depositMemo ?? null).toBe(memo)
        }
      }),
    )
  })
})
