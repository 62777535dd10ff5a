import { divideUp } from '../../bigint.ts'

/** The runtime's text for a panic. */
export const PANIC = 'SBF program panicked'

/**
 * Input before the fee which buys `amountOut` on x·y = k: rounded up, but a quotient below one half is 0 (checked_ceil_div of
 * Raydium). Null if the output takes the whole reserve or more.
 */
export function computeInput(reserveIn: bigint, reserveOut: bigint, amountOut: bigint): bigint | null {
  const rest = reserveOut - amountOut
  if (rest <= 0n) return null
  const numerator = reserveIn * amountOut
  if (numerator < rest) return numerator * 2n >= rest ? 1n : 0n
  return divideUp(numerator, rest)
}

/** Output for an input net of the fee on x·y = k, rounded down. Null if both are 0. */
export function computeOutput(reserveIn: bigint, reserveOut: bigint, netInput: bigint): bigint | null {
  const sum = reserveIn + netInput
  return sum === 0n ? null : (netInput * reserveOut) / sum
}
