import { networks as definitions } from '../../networks/index.ts'
import { nearest } from '../lib/closest-name.ts'

/** A comma list of tickers, or `all`. */
export function toNetworks(list: string | null): readonly string[] | 'all' | null {
  if (list === null) return null
  const names = list
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.includes('all') ? 'all' : names
}

/** Of the networks that there are, the sandbox's chains say themselves which they have. */
export function networkProblems(list: string | number | undefined): readonly string[] {
  const wanted = typeof list === 'string' ? toNetworks(list) : null
  if (wanted === null || wanted === 'all') return []
  const known = definitions.map(({ id }) => id)
  return wanted
    .filter((name) => !known.includes(name))
    .map(
      (name) => `SWAPYARD_SANDBOX_NETWORKS names ${name}, which is no network; the nearest is ${nearest(name, known)}`,
    )
}
