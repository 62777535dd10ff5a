import { type GuardSettings, guardDefaults } from '../../server/src/exchange/settings.ts'
import {
  cancelLosers,
  keepOldQuotes,
  payOnlyWinners,
  payUnconfirmed,
  replaceLosers,
  sendTestPayment,
  useLaggingPrices,
} from './fixed-rate-strategies.ts'
import { drawPath } from './market.ts'
import type { SimulatedTemplate } from './simulated-clock.ts'
import { type Rules, startSimulation } from './simulation.ts'
import {
  bendThePrice,
  burnGas,
  burnGasBelowLimit,
  sellDearStablecoins,
  sendDust,
  sendSmallTokens,
  splitDoubleSpend,
  tradeOneDirection,
} from './strategies.ts'
import type { Strategy } from './strategy.ts'

/** A strategy, and the guard that is there against it. */
export type AdversaryCase = Readonly<{
  name: string
  guard: string
  strategy: Strategy
  /** The rules with which the guard has no effect. */
  without: Rules
  /** Its worst day costs the operator at most this share of what honest customers turn over on such a day. */
  lossMaxPercent: number
  /** The same of the day with larger jumps; by default `JUMPY_LOSS_MAX_PERCENT`. */
  jumpyLossMaxPercent?: number
  /** With the keys of so many partners; by default of one. */
  partnerCount?: number
  /** The operator buys back what the conversions of the day took, at the cost of another exchange. */
  isRebalanced?: boolean
}>

/**
 * Of what honest customers turn over: four jumps of 3 %, less the 0.9 % of a fixed rate, on a partner's share of the reserve, a
 * third of 30 % of 2 million dollars. That is 16 600 dollars of 360 000.
 */
export const JUMPY_LOSS_MAX_PERCENT = 4.6
/** The same on all of the 30 %, whichever partners they are promised to: 50 400 dollars. */
const ALL_PARTNERS = {
  // Three partners have 33 % each of what may be promised. The fourth has the rest.
  partnerCount: 4,
  lossMaxPercent: 3,
  jumpyLossMaxPercent: 14,
}

/** A taker's fee on another exchange, half of its spread, and the transfers to it and back, as a share of what is bought. */
const REBALANCING_COST = 0.0025

/** Three block intervals of bitcoin, as in production: those of the chain in memory are a second. */
const BITCOIN_INCLUSION_MS = 30 * 60_000

const withGuards = (change: Partial<GuardSettings>): Rules => ({
  settings: { guards: { ...guardDefaults, fixedInclusionMs: BITCOIN_INCLUSION_MS, ...change } },
})

/** Every guard as it is by default. */
export const guarded = withGuards({})

export const cases: readonly AdversaryCase[] = [
  {
    name: 'keeps quotes, and creates with an old one',
    guard: 'guards.lastLookBps',
    strategy: keepOldQuotes,
    lossMaxPercent: 1,
    without: withGuards({ lastLookBps: 9_999 }),
  },
  {
    name: 'as four partners, keeps quotes, and creates with old ones',
    guard: 'guards.fixedReservePercent',
    strategy: keepOldQuotes,
    ...ALL_PARTNERS,
    without: withGuards({ fixedReservePercent: 300 }),
  },
  {
    name: 'trades against prices that lag',
    guard: 'guards.fixedPriceAge',
    strategy: useLaggingPrices,
    lossMaxPercent: 1,
    without: withGuards({ fixedPriceAgeMs: 30_000 }),
  },
  {
    name: 'as four partners, pays only where it wins',
    guard: 'guards.fixedReservePercent',
    strategy: payOnlyWinners,
    ...ALL_PARTNERS,
    // The whole reserve for one partner: its share is a third.
    without: withGuards({ fixedReservePercent: 300 }),
  },
  {
    name: 'as one partner, takes what all may be promised, and pays only where it wins',
    guard: 'guards.fixedPartnerPercent',
    strategy: payOnlyWinners,
    lossMaxPercent: 1,
    without: withGuards({ fixedPartnerPercent: 100 }),
  },
  {
    name: 'cancels where it loses, and orders again at the new price',
    guard: 'the share of cancelled promises',
    strategy: cancelLosers,
    lossMaxPercent: 1,
    without: { ...guarded, isCancelFree: true },
  },
  {
    name: 'sells a stablecoin while its price is wrong by 5 %',
    guard: 'guards.stableBandPercent',
    strategy: sellDearStablecoins,
    lossMaxPercent: 1,
    without: withGuards({ stableBandPercent: 100 }),
  },
  {
    name: 'pays unconfirmed',
    guard: 'clocks.fixedInclusion',
    strategy: payUnconfirmed,
    lossMaxPercent: 1,
    without: withGuards({ fixedInclusionMs: 86_400_000 }),
  },
  {
    name: 'bends the price for a minute',
    guard: 'guards.priceMovePercent',
    strategy: bendThePrice,
    lossMaxPercent: 1,
    without: withGuards({ priceMovePercent: 1_000 }),
  },
  {
    name: 'replaces its payment where it loses',
    guard: 'clocks.fixedInclusion',
    strategy: replaceLosers,
    lossMaxPercent: 1,
    without: withGuards({ fixedInclusionMs: 4 * 3_600_000 }),
  },
  {
    name: 'as four partners, replaces its payments where it loses',
    guard: 'clocks.fixedInclusion',
    strategy: replaceLosers,
    ...ALL_PARTNERS,
    without: withGuards({ fixedInclusionMs: 4 * 3_600_000 }),
  },
  {
    name: 'sends a test payment in time, and the whole when it wins',
    guard: 'clocks.fixedLock',
    strategy: sendTestPayment,
    lossMaxPercent: 1,
    without: { settings: { ...guarded.settings, fixedLockMs: 86_400_000 } },
  },
  {
    name: 'splits a double spend into small deposits',
    guard: 'guards.inFlightFactor',
    strategy: splitDoubleSpend,
    lossMaxPercent: 3,
    without: withGuards({ inFlightFactor: 1_000 }),
  },
  {
    name: 'as four partners, splits a double spend into small deposits',
    guard: 'guards.inFlightFactor',
    strategy: splitDoubleSpend,
    partnerCount: 4,
    // Each partner has 10 000 dollars in flight at the lowest depth.
    lossMaxPercent: 12,
    jumpyLossMaxPercent: 12,
    without: withGuards({ inFlightFactor: 1_000 }),
  },
  {
    name: 'has payouts and refunds sent to contracts that burn gas',
    guard: 'guards.payoutFeeMultiple',
    strategy: burnGas,
    lossMaxPercent: 1,
    without: withGuards({ payoutFeePercent: 10_000, payoutFeeMultiple: 10_000 }),
  },
  {
    name: 'has a hundred of the smallest payouts sent to contracts that burn just below the limit',
    guard: 'guards.payoutFeeMultiple',
    strategy: burnGasBelowLimit,
    lossMaxPercent: 1,
    without: withGuards({ payoutFeePercent: 10_000, payoutFeeMultiple: 10_000 }),
  },
  {
    name: 'sends dust to many addresses',
    guard: 'network fees of payouts and refunds',
    strategy: sendDust,
    lossMaxPercent: 1,
    // Without the fees the minimum falls, and dust is converted; the guard of payouts would only delay that.
    without: { ...withGuards({ payoutFeePercent: 10_000 }), isFreeOfNetworkFees: true },
  },
  {
    name: 'sends many small token deposits',
    guard: 'network costs of deposits',
    strategy: sendSmallTokens,
    lossMaxPercent: 1,
    without: { ...guarded, isFreeOfDepositCosts: true },
  },
  {
    name: 'trades in one direction only',
    guard: 'spreads.majorBps',
    strategy: tradeOneDirection,
    lossMaxPercent: 1,
    isRebalanced: true,
    without: { ...guarded, spreads: { bps: { stable: 0, major: 0, minor: 0 }, fixedRateExtraBps: 0 } },
  },
]

/** One simulated day, in dollars. */
export type Day = Readonly<{ gainUsd: number; turnoverUsd: number }>

/** A volatile market: 60 % a year, and four jumps a day. */
const pathOf = ({ seed, jumpSize }: Draw) =>
  drawPath({ seed, startUsd: 100_000, yearlyVolatility: 0.6, jumpsPerDay: 4, jumpSize })

type Draw = Readonly<{ seed: number; jumpSize: number }>
/** With jumps of about 1 %. First the one with the larger moves, on which most strategies gain without their guard. */
export const days: readonly Draw[] = [2, 1].map((seed) => ({ seed, jumpSize: 0.01 }))
/** With jumps of about 3 %: of three draws, the one on which adversaries gain most. */
export const jumpyDay: Draw = { seed: 2, jumpSize: 0.03 }

/** More databases at a time make the queries of a busy machine too slow. */
const DAYS_AT_ONCE = 3

/** What the operator gains from the strategy on each of the drawn days. The days share nothing. */
export async function simulateDays(
  template: SimulatedTemplate,
  drawn: readonly Draw[],
  simulated: Simulated,
  rules: Rules,
): Promise<readonly Day[]> {
  const results: Day[] = []
  const waiting = drawn.entries()
  const simulateWaiting = async () => {
    for (const [index, draw] of waiting) results[index] = await simulateDay(template, draw, simulated, rules)
  }
  await Promise.all(Array.from({ length: DAYS_AT_ONCE }, simulateWaiting))
  return results
}

/** The first drawn day on which the operator loses by the strategy, and its index; null if no day is one. */
export async function findLosingDay(
  template: SimulatedTemplate,
  simulated: Simulated,
  rules: Rules,
): Promise<Readonly<{ index: number; gainUsd: number }> | null> {
  for (const [index, draw] of days.entries()) {
    const { gainUsd } = await simulateDay(template, draw, simulated, rules)
    if (gainUsd < 0) return { index, gainUsd }
  }
  return null
}

export type Simulated = Pick<AdversaryCase, 'strategy' | 'isRebalanced' | 'partnerCount'>

async function simulateDay(
  template: SimulatedTemplate,
  draw: Draw,
  { strategy, isRebalanced = false, partnerCount = 1 }: Simulated,
  rules: Rules,
): Promise<Day> {
  const simulation = await startSimulation(template, pathOf(draw), rules, partnerCount)
  try {
    await strategy(simulation)
    const { conversions } = simulation
    const convertedUsd = conversions.reduce((sum, { receivedUsd, paidUsd }) => sum + receivedUsd - paidUsd, 0)
    const gainUsd = convertedUsd + (await simulation.readRefundIncomeUsd())
    const turnoverUsd = conversions.reduce((sum, { receivedUsd }) => sum + receivedUsd, 0)
    const costsUsd = (await simulation.readCostsUsd()) + (isRebalanced ? turnoverUsd * REBALANCING_COST : 0)
    return { gainUsd: gainUsd - costsUsd, turnoverUsd }
  } finally {
    await simulation.close()
  }
}
