/** `Math.min` for bigints. */
export function smallest(first: bigint, ...rest: readonly bigint[]): bigint {
  let least = first
  for (const value of rest) if (value < least) least = value
  return least
}

/** `Math.abs` for bigints. */
export const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

/** `Math.max` for bigints. */
export function largest(first: bigint, ...rest: readonly bigint[]): bigint {
  let most = first
  for (const value of rest) if (value > most) most = value
  return most
}
