import { expect, test } from 'vitest'
import { largestPayoutUsd } from './outflow-limits.ts'

test.each([
  [50_000n, 200_000n, 1_000_000n, 25, 50_000n],
  // What is above the share of a partner waits for an operator.
  [50_000n, 100_000n, 500_000n, 25, 25_000n],
  [50_000n, 1_000_000n, 40_000n, 25, 10_000n],
  [50_000n, 50_000n, 500_000n, 100, 50_000n],
] as const)(
  'limits of %i per payout, %i per hour and %i per day with %i percent for one partner: quotes promise at most %i',
  (perTransactionUsd, hourUsd, dayUsd, partnerPercent, most) => {
    expect(largestPayoutUsd({ perTransactionUsd, hourUsd, dayUsd, partnerPercent })).toBe(most)
  },
)
