import { smallest } from '../../lib/bigint.ts'

/** How well outside routers kept what they offered, as far as this process built their offers. */
export type OutsidePromises = Readonly<{
  /** By how many millionths the next offer of this one counts less. */
  penaltyPpm(network: string, source: string): bigint
  /** What a build showed: by how much less it paid than it offered. 0 = it kept its word. */
  record(network: string, source: string, shortPpm: bigint): void
}>

export type OutsidePromisesDeps = Readonly<{
  now(): number
  /** In which a penalty falls by half. */
  halfLifeMs?: number
  /** Told of every build, with what the penalty is from then on. */
  onBuilt?(network: string, source: string, kept: boolean, penaltyPpm: () => number): void
}>

const HALF_LIFE_MS = 5 * 60_000
/** From there it falls to where offers are taken again in half an hour. */
const PENALTY_MAX_PPM = 50_000n

/** Whoever fell short by more than a block's movement of prices is not taken at all, however much it says. */
export const RESTS_ABOVE_PPM = 1_000n

type Penalty = Readonly<{ ppm: number; at: number }>

/**
 * What an outside router paid less than it offered is taken off its next offers on that network, and where that is much it
 * rests. Broken promises add up to a bound; time halves them, and so does every promise that is kept. There are as many as
 * routers that the operator names.
 */
export function createOutsidePromises(deps: OutsidePromisesDeps): OutsidePromises {
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
      const isKept = shortPpm <= 0n
      const next = isKept ? before / 2 : Number(smallest(PENALTY_MAX_PPM, BigInt(before) + shortPpm))
      penalties.set(key, { ppm: next, at: now() })
      onBuilt?.(network, source, isKept, () => penaltyOf(key))
    },
  }
}
