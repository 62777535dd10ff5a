import { outputDefaults } from '../../server/src/exchange/domain/output-plan.ts'
import { guardDefaults, privacyDefaults, type ServiceSettings } from '../../server/src/exchange/settings.ts'

const USD = 10n ** 12n
const MINUTE_MS = 60_000

/** Outputs are neither split nor merged, so that a test counts its own transactions alone. */
export const outputsAsTheyAre = { ...outputDefaults, ready: 1, smallMax: 0 }

/** Settings for tests: stuck payouts are replaced after a minute, and no test reaches the limits. */
export const appSettings: ServiceSettings = {
  rateIdMs: MINUTE_MS,
  fixedLockMs: 20 * MINUTE_MS,
  expiryMs: 24 * 60 * MINUTE_MS,
  stuckMs: MINUTE_MS,
  fundingsAreCapital: true,
  limits: {
    perTransactionUsd: 1_000_000n * USD,
    hourUsd: 100_000_000n * USD,
    dayUsd: 100_000_000n * USD,
    partnerPercent: 100,
    networkPercent: 100,
    recipientPercent: 100,
  },
  guards: guardDefaults,
  coldAddresses: [],
  privacy: privacyDefaults,
  outputs: outputsAsTheyAre,
}
