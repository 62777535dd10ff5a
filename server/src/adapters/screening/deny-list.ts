import type { Screening } from '../../core/ports/screening.ts'

/** The operator's own list: addresses that are never served, as `network:address`. Everything else is allowed. */
export function createDenyList(entries: readonly string[]): Screening {
  const denied = new Set(entries.map((entry) => entry.toLowerCase()))
  return {
    screen: async ({ network, address }) => (denied.has(`${network}:${address}`.toLowerCase()) ? 'block' : 'allow'),
  }
}
