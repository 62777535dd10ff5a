import { type GuardSettings, guardDefaults, type ServiceSettings } from '../../server/src/exchange/settings.ts'
import { drawPath } from './market.ts'
import { startSimulation } from './simulation.ts'
import {
  bendThePrice,
  keepOldQuotes,
  payOnlyWinners,
  payUnconfirmed,
  type Strategy,
  useLaggingPrices,
} from './strategies.ts'

/** A strategy, and the guard that is there against it. */
export type AdversaryCase = Readonly<{
  name: string
  guard: string
  strategy: Strategy
  /** The settings with which the guard has no effect. */
  without: Partial<ServiceSettings>
}>

/** Three block intervals of bitcoin, as in production: those of the chain in memory are a second. */
const BITCOIN_INCLUSION_MS = 30 * 60_000

const withGuards = (change: Partial<GuardSettings>): Partial<ServiceSettings> => ({
  guards: { ...guardDefaults, fixedInclusionMs: BITCOIN_INCLUSION_MS, ...change },
})

/** Every guard as it is by default. */
export const guarded = withGuards({})

export const cases: readonly AdversaryCase[] = [
  {
    name: 'keeps quotes, and creates with an old one',
    guard: 'guards.lastLookBps',
    strategy: keepOldQuotes,
    without: withGuards({ lastLookBps: 9_999 }),
  },
  {
    name: 'trades against prices that lag',
    guard: 'guards.fixedPriceAge',
    strategy: useLaggingPrices,
    without: withGuards({ fixedPriceAgeMs: 30_000 }),
  },
  {
    name: 'pays only where it wins',
    guard: 'guards.fixedReservePercent',
    strategy: payOnlyWinners,
    // The whole reserve for one partner: its share is a third.
    without: withGuards({ fixedReservePercent: 300 }),
  },
  {
    name: 'pays unconfirmed',
    guard: 'clocks.fixedInclusion',
    strategy: payUnconfirmed,
    without: withGuards({ fixedInclusionMs: 86_400_000 }),
  },
  {
    name: 'bends the price for a minute',
    guard: 'guards.priceMovePercent',
    strategy: bendThePrice,
    without: withGuards({ priceMovePercent: 1_000 }),
  },
]

/** One simulated day, in dollars. */
export type Day = Readonly<{ gainUsd: number; turnoverUsd: number }>

/** A volatile market: 60 % a year, and four jumps of about 1 % a day. */
const pathOf = (seed: number) =>
  drawPath({ seed, startUsd: 100_000, yearlyVolatility: 0.6, jumpsPerDay: 4, jumpSize: 0.01 })

const SEEDS = [1, 2, 3]

/** What the operator gains from the strategy on each of the drawn days. */
export async function simulateDays(strategy: Strategy, settings: Partial<ServiceSettings>): Promise<readonly Day[]> {
  const days: Day[] = []
  for (const seed of SEEDS) {
    const simulation = await startSimulation(pathOf(seed), settings)
    try {
      await strategy(simulation)
      const sum = (of: (one: (typeof simulation.conversions)[number]) => number) =>
        simulation.conversions.reduce((total, one) => total + of(one), 0)
      days.push({ gainUsd: sum((one) => one.receivedUsd - one.paidUsd), turnoverUsd: sum((one) => one.receivedUsd) })
    } finally {
      await simulation.close()
    }
  }
  return days
}
