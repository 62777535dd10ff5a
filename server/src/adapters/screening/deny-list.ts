import type { Screening } from '../../core/ports/screening.ts'

/** Blocks the addresses of the operator's list, given as `network:address`, and allows all others. */
export function createDenyList(entries: readonly string[]): Screening {
  const denied = new Set(entries.map((entry) => entry.toLowerCase()))
  return {
    screen: async ({ network, address }) => (denied.has(`${network}:${address}`.toLowerCase()) ? 'block' : 'allow'),
  }
}
