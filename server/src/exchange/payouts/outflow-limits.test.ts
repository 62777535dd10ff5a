import { expect, test } from 'vitest'
import { largestPayoutUnits, largestPayoutUsd } from './outflow-limits.ts'

test.each([
  // 50 000 ÷ 1.01: a payout may become 1 % larger until it is paid.
  [50_000n, 200_000n, 1_000_000n, [25, 100, 25], 49_504n],
  // What is above the share of a partner, of a network or of a recipient waits for an operator.
  [50_000n, 100_000n, 500_000n, [25, 100, 100], 24_752n],
  [50_000n, 100_000n, 500_000n, [100, 25, 100], 24_752n],
  [50_000n, 100_000n, 500_000n, [100, 100, 25], 24_752n],
  [50_000n, 1_000_000n, 40_000n, [25, 50, 75], 9_900n],
  [50_000n, 1_000_000n, 40_000n, [75, 25, 50], 9_900n],
  [50_000n, 1_000_000n, 40_000n, [50, 75, 25], 9_900n],
  [50_000n, 50_000n, 500_000n, [100, 100, 100], 49_504n],
] as const)(
  'limits of %i per payout, %i per hour and %i per day with %j percent for one partner, network and recipient: quotes promise at most %i',
  (perTransactionUsd, hourUsd, dayUsd, [partnerPercent, networkPercent, recipientPercent], most) => {
    const shares = { partnerPercent, networkPercent, recipientPercent }
    expect(largestPayoutUsd({ perTransactionUsd, hourUsd, dayUsd, ...shares })).toBe(most)
  },
)

test.each([
  [101n, 500n, 2_000n, 100n],
  [500n, 101n, 2_000n, 100n],
  [500n, 2_000n, 101n, 100n],
])(
  "the signer's limits of %i units per payout, %i per hour and %i per day: quotes promise at most %i",
  (transaction, hour, day, most) => {
    expect(largestPayoutUnits({ transaction, hour, day })).toBe(most)
  },
)
