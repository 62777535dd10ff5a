import { describe, expect, test } from 'vitest'
import { measureHitRate } from './model.ts'
import type { Case } from './simulation.ts'

const ROUNDS = 10
const [MINUTES_10_S, HOUR_S, DAY_S] = [600, 3_600, 86_400]
const defaults = { sizes: 'equal', delayS: MINUTES_10_S, arriveS: DAY_S, noise: 0, isPartWithheld: true } as const
const transparent = { ...defaults, intermediary: 'ltc' } as const
const hidden = { ...defaults, intermediary: 'xmr' } as const
const measure = (parameters: Case, rounds = ROUNDS) => measureHitRate(parameters, rounds)

describe('an analyst who sees the payments between the legs', () => {
  test('tells apart equal sizes of different source blocks over a day, whatever the delays', () => {
    // Deposits of one size in one block look alike; the analyst can guess one of them. A hundred deposits at random times
    // among 144 random blocks fall into 100 · 144 / (100 + 144) = 59 different blocks on average.
    const distinctBlocks = 144 / (100 + 144)
    for (const delayS of [0, MINUTES_10_S, HOUR_S])
      expect(Math.abs(measure({ ...transparent, delayS }) - distinctBlocks)).toBeLessThan(0.06)
  })

  test('matches random sizes, whatever the delays', () => {
    for (const delayS of [0, HOUR_S])
      expect(measure({ ...transparent, sizes: 'random', arriveS: HOUR_S, delayS })).toBeGreaterThan(0.99)
  })

  test('hits no more than chance does for equal sizes within ten minutes', () => {
    // Chance hits 1 of 100, so about 10 in the thousand pairs of ten rounds.
    expect(measure({ ...transparent, arriveS: MINUTES_10_S })).toBeLessThan(0.04)
  })

  test('hits more if nothing is withheld and payouts vary', () => {
    const varied = { ...transparent, sizes: 'random', arriveS: MINUTES_10_S, delayS: HOUR_S, noise: 0.01 } as const
    // The random numbers are seeded: the rates are 0.80 and 0.87.
    expect(measure({ ...varied, isPartWithheld: false }, 20)).toBeGreaterThan(measure(varied, 20) + 0.04)
  })
})

describe('an analyst who does not see the payments between the legs', () => {
  test('matches random sizes by the amounts at both ends', () => {
    for (const delayS of [0, HOUR_S])
      expect(measure({ ...hidden, sizes: 'random', arriveS: HOUR_S, delayS })).toBeGreaterThan(0.98)
  })

  test('hits less for equal sizes over a day if delays are an hour', () => {
    // The rates are 0.58 and 0.50.
    expect(measure({ ...hidden, delayS: 0 }, 20)).toBeGreaterThan(measure({ ...hidden, delayS: HOUR_S }, 20) + 0.04)
  })

  test('hits no more than chance does for equal sizes within ten minutes', () => {
    expect(measure({ ...hidden, arriveS: MINUTES_10_S })).toBeLessThan(0.04)
  })

  test('hits fewer random sizes than one who sees them, if payouts vary', () => {
    const varied = { sizes: 'random', arriveS: HOUR_S, delayS: HOUR_S, noise: 0.03 } as const
    const [seen, unseen] = [measure({ ...transparent, ...varied }), measure({ ...hidden, ...varied })]
    // The rates are 0.67 and 0.57, and 1 without the variation.
    expect(seen).toBeLessThan(0.75)
    expect(seen).toBeGreaterThan(unseen + 0.05)
  })
})

// A payment changes the reserves that the feed shows, at its time. The reserve is 300 to 3 000 times a payment.
describe('an analyst of Monero who also reads the reserves in the feed', () => {
  const varied = { ...hidden, sizes: 'random', arriveS: HOUR_S, delayS: HOUR_S, noise: 0.03 } as const
  const cases: readonly Case[] = [varied, { ...hidden, delayS: HOUR_S }, { ...hidden, arriveS: MINUTES_10_S }]

  test('matches payouts that vary, if the figures are exact', () => {
    // The rates are 0.98 and 0.58.
    expect(measure({ ...varied, feed: { figures: 'exact', reserve: 3_000 } })).toBeGreaterThan(0.95)
    expect(measure(varied)).toBeLessThan(0.65)
  })

  test('hits no more than without the reserves, if the figures are the published ones', () => {
    for (const one of cases) {
      const published = measure({ ...one, feed: { figures: 'published', reserve: 3_000 } }, 20)
      expect(Math.abs(published - measure(one, 20))).toBeLessThan(0.02)
    }
  })
})
