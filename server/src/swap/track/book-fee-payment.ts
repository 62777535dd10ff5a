import type { AssetId } from '../../core/domain/asset.ts'
import { feePaidEntry, feePaidId, feesAccount, partnerAccount } from '../../core/domain/ledger/entries.ts'
import type { CoreStore } from '../../core/ports/store/store.ts'
import { type AuditNote, refused, requireReason } from '../../core/services/audit-note.ts'
import { ledgerToken, type SwapNetwork, tokenAsset } from '../networks.ts'

/** The operator's transaction that pays fees to a partner. Addresses in canonical form. */
export type FeePayment = Readonly<{ hash: string; token: string; from: string; to: string }>
export type BookedPayment = Readonly<{ assetId: AssetId; units: bigint; repeated: boolean }>

/**
 * Books a payment of fees from the operator to a partner, once its transaction is final. The amount is read from the chain,
 * because the server has no key of the fee address.
 */
export function createBookFeePayment(store: CoreStore, show: (units: bigint, assetId: AssetId) => string) {
  return async (
    partner: Readonly<{ id: string; name: string }>,
    network: SwapNetwork,
    { hash, token, from, to }: FeePayment,
    note: AuditNote,
  ): Promise<BookedPayment> => {
    requireReason(note)
    const { chain } = network
    const { id: networkId, confirmations, finalityBlocks } = chain.network
    const assetId = tokenAsset(network, token)
    const paid = await chain.readPayment(hash, { token: ledgerToken(network, token), from, to })
    if (paid === null) throw refused(`${hash} is not mined on ${networkId}, or it failed`)
    const { units } = paid
    if (units === 0n) throw refused(`${hash} moved nothing of ${assetId} from ${from} to ${to}`)
    const depth = Math.max(confirmations, finalityBlocks)
    if (paid.confirmations < depth)
      throw refused(`${hash} has ${paid.confirmations} of ${depth} confirmations: try again later`)
    const entry = feePaidEntry({ network: networkId, txHash: hash, from, to, partnerId: partner.id, assetId, units })
    return store.transaction(async (tx) => {
      const [owing, holding] = [partnerAccount(partner.id), feesAccount(from)]
      const booked = await tx.ledger.entry(feePaidId({ network: networkId, txHash: hash, from, to, assetId }))
      if (booked !== null) {
        if (booked.postings[0]?.debit !== owing) throw refused(`${hash} was booked for another partner`)
        return { assetId, units, repeated: true }
      }
      const [owed, held] = [-(await tx.ledger.balance(owing, assetId)), await tx.ledger.balance(holding, assetId)]
      if (units > owed)
        throw refused(
          `${hash} pays ${show(units, assetId)}, but partner ${partner.name} is owed ${show(owed, assetId)}`,
        )
      if (units > held) throw refused(`the ledger holds only ${show(held, assetId)} of fees at ${from}`)
      if (!(await tx.ledger.post(entry))) throw refused(`another process is booking ${hash}: try again`)
      await tx.auditLog.record({
        ...note,
        act: 'fees paid',
        subject: `partner ${partner.name}`,
        detail: { network: networkId, hash, assetId, units, from, to, journal: entry.id },
        before: { account: owing, assetId, owed },
        after: { account: owing, assetId, owed: owed - units },
      })
      return { assetId, units, repeated: false }
    })
  }
}
