import type { PayoutRelease } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'

const COMPARED = ['assetId', 'address', 'memo', 'units'] as const

/** What keeps released payouts from being imported as the queued ones; null = nothing. */
export function findMismatch(releases: readonly PayoutRelease[], payouts: readonly Payout[]): string | null {
  const byId = new Map(payouts.map((payout) => [payout.id, payout]))
  for (const release of releases) {
    const payout = byId.get(release.payoutId)
    if (!payout) return `payout ${release.payoutId} is not queued in the database yet`
    if (payout.state !== 'reserved') return `payout ${payout.id} is already ${payout.state}`
    const field = COMPARED.find((name) => payout[name] !== release[name])
    if (field !== undefined)
      return `payout ${payout.id} differs in ${field}: the database has ${payout[field]}, the signer released ${release[field]}`
  }
  return null
}
