import type { AssetId } from '../../core/domain/asset.ts'
import { type AuditNote, refused, requireReason } from '../../core/services/audit-note.ts'
import { creditUnclaimed } from '../deposits/credit-unclaimed.ts'
import type { LargerOutput } from '../ports/store/operator.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'

type Input = Readonly<{ network: string; outpoint: string; note: AuditNote }>
/** Coins that are unclaimed from now on. */
type BookedSurplus = Readonly<{ depositId: string; assetId: AssetId; units: bigint }>

/**
 * Lets payouts spend an output again that was quarantined. If the wallet holds a larger output of the same key instead, what that
 * one has in addition is booked as unclaimed, and returned: an operator claims it or pays it out.
 */
export async function releaseInput(store: Store, input: Input): Promise<BookedSurplus | null> {
  const { network, outpoint, note } = input
  return store.transaction(async (tx) => {
    requireReason(note)
    const larger = await tx.operator.findLargerOutput(network, outpoint)
    if (larger !== null) requireSettled(input, larger)
    if (!(await tx.transactions.releaseQuarantined(network, outpoint)))
      throw refused(`output ${outpoint} of ${network} is not quarantined: see swapyard alarms`)
    const surplus = larger === null ? null : await bookSurplus(tx, input, larger)
    await tx.auditLog.record({
      ...{ ...note, act: 'input released', subject: `${network} ${outpoint}` },
      ...(surplus === null ? {} : { detail: { unclaimed: surplus } }),
    })
    return surplus
  })
}

/** Until then, either of the two may be the one that is spent. */
function requireSettled({ network, outpoint }: Input, { isDeep, isReserved }: LargerOutput): void {
  if (isReserved)
    throw refused(`a transaction of ours spends output ${outpoint} of ${network}: release it when that one has failed`)
  if (!isDeep)
    throw refused(`the larger payment to output ${outpoint} of ${network} has too few confirmations: repeat this later`)
}

async function bookSurplus(
  tx: StoreTx,
  { network, outpoint }: Input,
  { depositId, assetId, units, credits, isCredited }: LargerOutput,
): Promise<BookedSurplus> {
  await tx.operator.takeLargerOutput(network, outpoint, units)
  const surplus = { depositId, assetId, units }
  if (isCredited) return surplus
  await creditUnclaimed(
    tx,
    { network, ...surplus, credits: credits + 1 },
    'an output brought more than its deposit: the rest belongs to no exchange',
    { outpoint },
  )
  return surplus
}
