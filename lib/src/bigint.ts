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

export const U64_MAX = (1n << 64n) - 1n
export const U128_MAX = (1n << 128n) - 1n

/** The quotient of two numbers that are not negative, rounded up. */
export const divideUp = (numerator: bigint, denominator: bigint): bigint => (numerator + denominator - 1n) / denominator

/** √value, rounded down. Newton's iteration from above falls until it reaches the root. */
export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (let next = (root + value / root) / 2n; next < root; next = (root + value / root) / 2n) root = next
  return root
}
