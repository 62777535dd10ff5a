import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { book, btc, NOW, usdt } from './pricing.fixture.ts'
import { pricePair, quoteUnits } from './pricing.ts'
import { type DepositFacts, decideTerms, type LiveRate, toLiveRate } from './terms.ts'

const seconds = (count: number) => new Date(NOW + count * 1_000)

/** A market with `rate` units out per unit in, less a flat fee. Bounds are 100 and 1 000 000 units. */
function live(
  rate: bigint,
  feeUnits = 0n,
  bounds: Partial<Pick<LiveRate, 'minUnits' | 'maxUnits'>> = {},
): () => LiveRate {
  const payout = (units: bigint) => (units * rate > feeUnits ? units * rate - feeUnits : 0n)
  return () => ({ minUnits: 100n, maxUnits: 1_000_000n, payout, excess: (units) => units * rate, ...bounds })
}

const noLive = (): LiveRate => {
  throw new Error('the live rate is not needed here')
}

const lock = { until: seconds(20 * 60), inclusionMs: 30 * 60_000 }
/** 10 000 in for 500 000 out; lock 20 min, 30 min until a sighting must be in a block, expiry 24 h. */
const facts: DepositFacts = {
  flow: 'fixed-rate',
  fixed: { ...lock, fromUnits: 10_000n, toUnits: 500_000n },
  isFirst: true,
  seenAt: seconds(60),
  includedAt: seconds(60),
  expiresAt: seconds(24 * 3_600),
  closedBefore: false,
  depositUnits: 10_000n,
  live: noLive,
}
const floats: DepositFacts = { ...facts, flow: 'standard', fixed: null, live: live(50n) }
const executed = (toUnits: bigint, rate: string) => ({ kind: 'execute', toUnits, rate })
const refunded = (reason: string) => ({ kind: 'refund', reason })

describe('a floating exchange', () => {
  it.each([
    [99n, refunded('BELOW_MIN')],
    [100n, executed(5_000n, 'floating')],
    [12_345n, executed(617_250n, 'floating')],
    [1_000_000n, executed(50_000_000n, 'floating')],
    [1_000_001n, refunded('ABOVE_MAX')],
  ])('a deposit of %s', (depositUnits, expected) => {
    expect(decideTerms({ ...floats, depositUnits })).toEqual(expected)
  })

  it('executes the ordered amount even if the minimum has risen since', () => {
    const ordered = { ...floats, requestedUnits: 90n }
    expect(decideTerms({ ...ordered, depositUnits: 90n })).toEqual(executed(4_500n, 'floating'))
    expect(decideTerms({ ...ordered, depositUnits: 89n })).toEqual(refunded('BELOW_MIN'))
    expect(decideTerms({ ...ordered, depositUnits: 90n, live: live(50n, 4_500n) })).toEqual(refunded('BELOW_MIN'))
  })

  it('has no maximum without a limit', () => {
    const depositUnits = 10n ** 20n
    expect(decideTerms({ ...floats, depositUnits, live: live(50n, 0n, { maxUnits: null }) })).toEqual(
      executed(50n * depositUnits, 'floating'),
    )
  })

  it('executes up to its expiry and refunds after it', () => {
    expect(decideTerms({ ...floats, includedAt: floats.expiresAt })).toEqual(executed(500_000n, 'floating'))
    const late = new Date(floats.expiresAt.getTime() + 1)
    expect(decideTerms({ ...floats, includedAt: late, live: noLive })).toEqual(refunded('LATE_DEPOSIT'))
  })
})

describe('a fixed rate, the deposit within 1 %', () => {
  it.each([
    [9_900n, 495_000n],
    [9_999n, 499_950n],
    [10_000n, 500_000n],
    [10_001n, 500_050n],
    [10_100n, 505_000n],
  ])('gives a deposit of %s the fixed rate pro rata, whatever the market', (depositUnits, toUnits) => {
    expect(decideTerms({ ...facts, depositUnits })).toEqual(executed(toUnits, 'fixed'))
    const atLockEnd = { seenAt: seconds(20 * 60), includedAt: seconds(20 * 60) }
    expect(decideTerms({ ...facts, depositUnits, ...atLockEnd })).toEqual(executed(toUnits, 'fixed'))
  })

  it('rounds down, and refunds if the output is zero', () => {
    const fixed = { ...lock, fromUnits: 10_000n, toUnits: 333n }
    expect(decideTerms({ ...facts, fixed, depositUnits: 9_999n })).toEqual(executed(332n, 'fixed'))
    expect(decideTerms({ ...facts, fixed: { ...fixed, toUnits: 1n }, depositUnits: 9_999n })).toEqual(
      refunded('BELOW_MIN'),
    )
  })
})

describe('a fixed rate, more than 1 % above', () => {
  it.each([
    ['the market fell', 40n, 500_000n + 101n * 40n],
    ['the market rose', 60n, 500_000n + 101n * 60n],
  ])('gives the quoted amount the fixed rate and the excess the live rate: %s', (_, rate, toUnits) => {
    // The quote includes the network fee of 1 000: the excess does not pay it again.
    expect(decideTerms({ ...facts, depositUnits: 10_101n, live: live(rate, 1_000n) })).toEqual(
      executed(toUnits, 'mixed'),
    )
  })

  it('refunds a deposit above the maximum', () => {
    expect(decideTerms({ ...facts, depositUnits: 1_000_001n, live: live(50n) })).toEqual(refunded('ABOVE_MAX'))
  })
})

describe('a fixed rate, more than 1 % below', () => {
  const depositUnits = 9_899n
  const quoted = 494_950n // 9 899 × 50
  it.each([
    ['the market rose: the fixed rate is worse', live(60n), executed(quoted, 'worse')],
    ['the market is the same', live(50n), executed(quoted, 'worse')],
    ['2 % less, exactly', live(49n), executed(485_051n, 'worse')],
    ['a unit more than 2 % less', live(49n, 1n), refunded('OUTSIDE_TOLERANCE')],
    ['the market fell', live(40n), refunded('OUTSIDE_TOLERANCE')],
    ['below the minimum', live(50n, 0n, { minUnits: 9_900n }), refunded('BELOW_MIN')],
  ])('%s', (_, market, expected) => {
    expect(decideTerms({ ...facts, depositUnits, live: market })).toEqual(expected)
  })
})

describe('a fixed rate, first seen after the lock', () => {
  const late = { ...facts, seenAt: seconds(20 * 60 + 1), includedAt: seconds(20 * 60 + 1) }
  it.each([
    ['the market rose', 10_000n, live(60n), executed(500_000n, 'worse')],
    ['the market fell by 2 %', 10_000n, live(49n), executed(490_000n, 'worse')],
    ['the market fell by more', 10_000n, live(49n, 1n), refunded('OUTSIDE_TOLERANCE')],
    ['too much, the market rose', 20_000n, live(60n), executed(1_000_000n, 'worse')],
    ['too little, the market fell by 2 %', 5_000n, live(49n), executed(245_000n, 'worse')],
    ['above the maximum', 2_000_000n, live(50n), refunded('ABOVE_MAX')],
  ])('%s', (_, depositUnits, market, expected) => {
    expect(decideTerms({ ...late, depositUnits, live: market })).toEqual(expected)
  })

  it('is refunded after the expiry', () => {
    expect(decideTerms({ ...facts, includedAt: seconds(24 * 3_600 + 1) })).toEqual(refunded('LATE_DEPOSIT'))
  })
})

// M1: the rate never ended while the payment was unconfirmed, a free option without a time limit.
describe('M1: a fixed rate, first seen in the mempool within the lock', () => {
  const minutes = (count: number) => seconds(count * 60)
  it.each([
    ['in a block before the lock ends, however long after', minutes(1), minutes(20), 'fixed'],
    ['in a block 30 minutes after it was first seen', minutes(19), minutes(49), 'fixed'],
    ['in a block a second later', minutes(19), seconds(49 * 60 + 1), 'worse'],
    ['first seen early, in a block 31 minutes later', minutes(2), minutes(33), 'worse'],
  ])('%s', (_, seenAt, includedAt, rate) => {
    // The market has fallen by 2 %: the worse rate is 490 000.
    const toUnits = rate === 'fixed' ? 500_000n : 490_000n
    expect(decideTerms({ ...facts, seenAt, includedAt, live: live(49n) })).toEqual(executed(toUnits, rate))
  })
})

describe('a fixed rate', () => {
  it('applies to the first deposit; later ones float, within min and max each', () => {
    const further = { ...facts, isFirst: false, live: live(40n) }
    expect(decideTerms(further)).toEqual(executed(400_000n, 'floating'))
    expect(decideTerms({ ...further, depositUnits: 99n })).toEqual(refunded('BELOW_MIN'))
  })

  it('ends when the exchange closes', () => {
    expect(decideTerms({ ...facts, closedBefore: true, live: live(40n) })).toEqual(executed(400_000n, 'floating'))
  })
})

describe('random deposits', () => {
  const HOUR = 3_600
  const any = fc
    .record({
      fromUnits: fc.bigInt({ min: 50n, max: 2_000_000n }),
      rate: fc.bigInt({ min: 1n, max: 10n ** 9n }),
      // Thousandths of the quoted amount and rate: near the borders of the tolerances, and far away.
      amountShare: fc.oneof(fc.bigInt({ min: 980n, max: 1_020n }), fc.bigInt({ min: 1n, max: 3_000n })),
      marketShare: fc.oneof(fc.bigInt({ min: 970n, max: 1_030n }), fc.bigInt({ min: 0n, max: 2_000n })),
      jitter: fc.bigInt({ min: -2n, max: 2n }),
      feeUnits: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 6n })),
      seenS: fc.oneof(fc.integer({ min: 0, max: 1_300 }), fc.integer({ min: 0, max: 30 * HOUR })),
      isFirst: fc.boolean(),
      closedBefore: fc.boolean(),
      isFixed: fc.boolean(),
    })
    .map((drawn) => {
      const deposit = (drawn.fromUnits * drawn.amountShare) / 1_000n + drawn.jitter
      return {
        ...drawn,
        depositUnits: deposit > 0n ? deposit : 1n,
        toUnits: drawn.fromUnits * drawn.rate + drawn.jitter,
      }
    })
  type Drawn = typeof any extends fc.Arbitrary<infer D> ? D : never

  /** The rules of docs/lifecycle.md, with amounts compared as fractions of the quote. */
  function expectedTerms(drawn: Drawn, market: LiveRate) {
    const { depositUnits, fromUnits, toUnits, seenS } = drawn
    const proRata = toUnits * depositUnits // × fromUnits
    const percent = (share: bigint) => fromUnits * share
    if (seenS > 24 * HOUR) return refunded('LATE_DEPOSIT')
    const isHeld = drawn.isFixed && drawn.isFirst && !drawn.closedBefore
    const isLocked = seenS <= 20 * 60
    if (isHeld && isLocked && depositUnits * 100n >= percent(99n) && depositUnits * 100n <= percent(101n)) {
      return executed(proRata / fromUnits, 'fixed')
    }
    if (depositUnits < 100n) return refunded('BELOW_MIN')
    if (depositUnits > 1_000_000n) return refunded('ABOVE_MAX')
    if (!isHeld) return executed(market.payout(depositUnits), 'floating')
    if (isLocked && depositUnits > fromUnits)
      return executed(toUnits + market.excess(depositUnits - fromUnits), 'mixed')
    const live = market.payout(depositUnits)
    if (live * fromUnits >= proRata) return executed(proRata / fromUnits, 'worse')
    return live * fromUnits * 100n >= proRata * 98n ? executed(live, 'worse') : refunded('OUTSIDE_TOLERANCE')
  }

  it('get the terms of docs/lifecycle.md', () => {
    const outcomes = new Set<string>()
    fc.assert(
      fc.property(any, (drawn) => {
        const { depositUnits, fromUnits, toUnits, isFirst, closedBefore, isFixed, rate, marketShare, feeUnits } = drawn
        const market = live((rate * marketShare) / 1_000n, feeUnits)
        const drawnFacts = {
          depositUnits,
          seenAt: seconds(drawn.seenS),
          includedAt: seconds(drawn.seenS),
          isFirst,
          closedBefore,
          live: market,
        }
        const terms = decideTerms(
          isFixed ? { ...facts, ...drawnFacts, fixed: { ...lock, fromUnits, toUnits } } : { ...floats, ...drawnFacts },
        )
        const expected = expectedTerms(drawn, market())
        // A zero output is refunded.
        const isZero = 'toUnits' in expected && expected.toUnits === 0n
        expect(terms).toEqual(isZero ? refunded('BELOW_MIN') : expected)
        outcomes.add(terms.kind === 'execute' ? terms.rate : terms.reason)
      }),
      { numRuns: 10_000 },
    )
    const allOutcomes = [
      'ABOVE_MAX',
      'BELOW_MIN',
      'LATE_DEPOSIT',
      'OUTSIDE_TOLERANCE',
      'fixed',
      'floating',
      'mixed',
      'worse',
    ]
    expect([...outcomes].sort()).toEqual(allOutcomes)
  })
})

describe('toLiveRate', () => {
  it('pays what a quote of the same amount states, and charges no second network fee on an excess', () => {
    const pricing = pricePair(book, { from: btc, to: usdt, flow: 'standard', partnerFeeBps: 25 }, NOW)
    const rate = toLiveRate(pricing)
    const { toUnits, fees } = quoteUnits(pricing, 123_456n)
    expect(rate.payout(123_456n)).toBe(toUnits)
    expect(rate.excess(123_456n)).toBe(toUnits + fees.networkUnits)
    expect(rate).toMatchObject({ minUnits: pricing.minUnits, maxUnits: pricing.maxUnits })
  })
})
