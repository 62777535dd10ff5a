import { assert } from '../../lib/assert.ts'

/** Math.max and Math.min take no bigint. */
export function largest(first: bigint, ...others: readonly bigint[]): bigint {
  let found = first
  for (const value of others) if (value > found) found = value
  return found
}

export function smallest(first: bigint, ...others: readonly bigint[]): bigint {
  let found = first
  for (const value of others) if (value < found) found = value
  return found
}

/** Of what every node answered; there is at least one. */
export function of(extreme: typeof largest, values: readonly bigint[]): bigint {
  const [first, ...others] = values
  assert(first !== undefined, 'a network has a node')
  return extreme(first, ...others)
}
