import type { AssetId } from '../../core/domain/asset.ts'
import { unownedFundingEntry } from '../../core/domain/ledger/entries.ts'
import type { StoreTx } from '../ports/store/store.ts'

/** Coins in a hot wallet that belong to no exchange. */
type Unclaimed = Readonly<{
  network: string
  depositId: string
  /** How often they are credited, this credit included. */
  credits: number
  assetId: AssetId
  units: bigint
}>

/** Credits coins without an owner, and raises one alarm per network: a stranger can send any number. An operator claims or returns them. */
export async function creditUnclaimed(
  tx: StoreTx,
  { network, depositId, credits, assetId, units }: Unclaimed,
  alarm: string,
  detail: Record<string, unknown>,
): Promise<void> {
  const credited = { status: 'credited', creditedUnits: units, credits, isBookedAsLoss: false } as const
  await tx.chainLog.saveDeposit({ id: depositId, ...credited })
  await tx.ledger.post(unownedFundingEntry(depositId, credits, assetId, units))
  const about = { network, depositId, ...detail, assetId, units: units.toString() }
  await tx.alarms.raise(`unclaimed:${network}`, alarm, about)
}
