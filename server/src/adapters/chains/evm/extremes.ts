import { assert } from '../../../lib/assert.ts'
import type { largest } from '../../../lib/bigint.ts'

/** Of what every node answered; there is at least one. */
export function of(extreme: typeof largest, values: readonly bigint[]): bigint {
  const [first, ...others] = values
  assert(first !== undefined, 'a network has a node')
  return extreme(first, ...others)
}
