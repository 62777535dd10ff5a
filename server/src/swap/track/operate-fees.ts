import type { AssetId } from '../../core/domain/asset.ts'
import { feePaidEntry, feePaidId, feesAccount, partnerAccount } from '../../core/domain/ledger/entries.ts'
import type { CoreStore } from '../../core/ports/store/store.ts'
import { refused, requireReason, type AuditNote } from '../../core/services/audit-note.ts'
import { ledgerToken, type SwapNetwork, tokenAsset } from '../networks.ts'

/** A transaction of the operator's, from an address that takes fees to a partner's. Addresses in canonical form. */
export type FeePayment = Readonly<{ hash: string; token: string; from: string; to: string }>
export type BookedPayment = Readonly<{ assetId: AssetId; units: bigint; repeated: boolean }>

/**
 * Books what the operator paid a partner of its fees: what the chain says of that transaction, once its block is final. The
 * house has no key of the address that takes fees.
 */
export function createBookFeePayment(store: CoreStore, show: (units: bigint, assetId: AssetId) => string) {
  return async (
    partner: Readonly<{ id: string; name: string }>,
    network: SwapNetwork,
    { hash, token, from, to }: FeePayment,
    word: AuditNote,
  ): Promise<BookedPayment> => {
    requireReason(word)
    const { chain } = network
    const { id: place, confirmations, finalityBlocks } = chain.network
    const assetId = tokenAsset(network, token)
    const paid = await chain.payment(hash, { token: ledgerToken(network, token), from, to })
    if (paid === null) throw refused(`${hash} is in no block of ${place}, or it failed`)
    const { units } = paid
    if (units === 0n) throw refused(`${hash} moved nothing of ${assetId} from ${from} to ${to}`)
    const depth = Math.max(confirmations, finalityBlocks)
    if (paid.confirmations < depth)
      throw refused(`${hash} has ${paid.confirmations} of ${depth} blocks: ask again then`)
    const entry = feePaidEntry({ network: place, txHash: hash, from, to, partnerId: partner.id, assetId, units })
    return store.transaction(async (tx) => {
      const [owing, holding] = [partnerAccount(partner.id), feesAccount(from)]
      const known = await tx.ledger.entry(feePaidId({ network: place, txHash: hash, from, to, assetId }))
      if (known !== null) {
        if (known.postings[0]?.debit !== owing) throw refused(`${hash} was booked for another partner`)
        return { assetId, units, repeated: true }
      }
      const [owed, held] = [-(await tx.ledger.balance(owing, assetId)), await tx.ledger.balance(holding, assetId)]
      if (units > owed)
        throw refused(`partner ${partner.name} is owed ${show(owed, assetId)}, and was paid ${show(units, assetId)}`)
      if (units > held) throw refused(`only ${show(held, assetId)} of fees came in at ${from}`)
      if (!(await tx.ledger.post(entry))) throw refused(`somebody else books ${hash} at this moment`)
      await tx.auditLog.record({
        ...word,
        act: 'fees paid',
        subject: `partner ${partner.name}`,
        detail: { network: place, hash, assetId, units, from, to, journal: entry.id },
        before: { account: owing, assetId, owed },
        after: { account: owing, assetId, owed: owed - units },
      })
      return { assetId, units, repeated: false }
    })
  }
}
