import Type, { type Static } from 'typebox'
import { type PrivacySettings, privacyDefaults } from '../exchange/settings.ts'

const duration = (standard: string, description: string) =>
  Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,8}(ms|s|m|h|d)$', default: standard, description }))
const DELAY = `${privacyDefaults.delayMaxMs / 60_000}m`
const STALL = `${privacyDefaults.stallMs / 3_600_000}h`
/** Who tries it out does not wait. */
const SANDBOX_DELAY_MS = 2_000
const PPM_A_BPS = 100

/** Of private exchanges: bounds in which each draws its own (docs/private-exchanges.md). */
export const privacySchema = Type.Optional(
  Type.Object(
    {
      delay: duration(DELAY, 'The longest random wait before each payout of a private exchange; 2 s in the sandbox'),
      withheldBps: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 500,
          default: privacyDefaults.withheldMaxPpm / PPM_A_BPS,
          description: 'The most of the intermediary’s amount that is not shown on its chain, in basis points',
        }),
      ),
      payoutBps: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 500,
          default: privacyDefaults.payoutMaxPpm / PPM_A_BPS,
          description:
            'The most by which a recipient gets more or less than the plain amount, in basis points: nothing on average, and harder to match',
        }),
      ),
      stall: duration(STALL, 'After which a leg that could not be paid goes back in the source coin'),
    },
    { additionalProperties: false },
  ),
)

export function assemblePrivacy(
  file: Static<typeof privacySchema> | undefined,
  environment: 'production' | 'sandbox',
  toMs: (text: string) => number,
): PrivacySettings {
  const { delay, withheldBps, payoutBps, stall = STALL } = file ?? {}
  return {
    delayMaxMs: delay === undefined && environment === 'sandbox' ? SANDBOX_DELAY_MS : toMs(delay ?? DELAY),
    withheldMaxPpm: withheldBps === undefined ? privacyDefaults.withheldMaxPpm : withheldBps * PPM_A_BPS,
    payoutMaxPpm: payoutBps === undefined ? privacyDefaults.payoutMaxPpm : payoutBps * PPM_A_BPS,
    stallMs: toMs(stall),
  }
}
