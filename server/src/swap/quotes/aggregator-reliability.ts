import { smallest } from '../../lib/bigint.ts'

/** Shortfalls of aggregators: how much less their built swaps paid than they quoted. Per process, in memory. */
export type AggregatorReliability = Readonly<{
  /** Penalty in millionths, subtracted from the aggregator's next quotes. */
  penaltyPpm(network: string, source: string): bigint
  /** Records a build: `shortPpm` is the shortfall against the quote in millionths; 0 = none. */
  record(network: string, source: string, shortPpm: bigint): void
}>

export type AggregatorReliabilityDeps = Readonly<{
  now(): number
  /** Time in which a penalty halves. */
  halfLifeMs?: number
  /** Called for every build. `penaltyPpm` reads the penalty at the time of its call. */
  onBuilt?(network: string, source: string, paidInFull: boolean, penaltyPpm: () => number): void
}>

const HALF_LIFE_MS = 5 * 60_000
/** From this bound a penalty falls below `EXCLUDED_ABOVE_PPM` in half an hour. */
const PENALTY_MAX_PPM = 50_000n

/** Above this penalty an aggregator is not used, whatever it quotes: prices rarely move more within a block. */
export const EXCLUDED_ABOVE_PPM = 1_000n

type Penalty = Readonly<{ ppm: number; at: number }>

/**
 * A shortfall is subtracted from the aggregator's next quotes on the same network; a large one excludes it for a while.
 * Shortfalls add up to a bound. Time halves the penalty, and so does each build that paid in full. Memory is bounded by the
 * number of configured aggregators and networks.
 */
export function createAggregatorReliability(deps: AggregatorReliabilityDeps): AggregatorReliability {
  const { now, halfLifeMs = HALF_LIFE_MS, onBuilt } = deps
  const penalties = new Map<string, Penalty>()
  const penaltyOf = (key: string): number => {
    const { ppm, at } = penalties.get(key) ?? { ppm: 0, at: 0 }
    return Math.floor(ppm * 0.5 ** (Math.max(0, now() - at) / halfLifeMs))
  }
  return {
    penaltyPpm: (network, source) => BigInt(penaltyOf(`${network} ${source}`)),
    record(network, source, shortPpm) {
      const key = `${network} ${source}`
      const before = penaltyOf(key)
      const paidInFull = shortPpm <= 0n
      const next = paidInFull ? before / 2 : Number(smallest(PENALTY_MAX_PPM, BigInt(before) + shortPpm))
      penalties.set(key, { ppm: next, at: now() })
      onBuilt?.(network, source, paidInFull, () => penaltyOf(key))
    },
  }
}
