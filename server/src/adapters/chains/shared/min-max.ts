import { present } from '../../../lib/assert.ts'
import { largest, smallest } from '../../../lib/bigint.ts'

/** The smallest of the nodes' answers. Throws on an empty list. */
export function minOf(values: readonly bigint[]): bigint {
  const [first, ...rest] = values
  return smallest(present(first, 'an answer of a node'), ...rest)
}

/** The largest of the nodes' answers. Throws on an empty list. */
export function maxOf(values: readonly bigint[]): bigint {
  const [first, ...rest] = values
  return largest(present(first, 'an answer of a node'), ...rest)
}
