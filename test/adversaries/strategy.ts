import { COIN, ETHER } from '../../server/test/exchange/money-path.ts'
import type { Direction as AnyDirection, Simulation } from './simulation.ts'

/** One day of a customer who knows the true price of every moment and every rule of the program, and keeps no word. */
export type Strategy = (simulation: Simulation) => Promise<void>

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const STEP = 5 * SECOND

export type Direction = Exclude<AnyDirection, 'usdt-btc'>
export const directions: readonly Direction[] = ['btc-eth', 'eth-btc']
/** Enough in both directions to reach the maximum of a quote. */
export const PROBE: Readonly<Record<Direction, bigint>> = { 'btc-eth': COIN / 100n, 'eth-btc': ETHER }

/** Below every minimum, and enough for its refund: some three dollars of bitcoin. */
export const TEST_UNITS = 3_000n
