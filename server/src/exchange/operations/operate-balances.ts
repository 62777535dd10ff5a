import { createHash } from 'node:crypto'
import type { AssetId } from '../../core/domain/asset.ts'
import { partnerAccount, reservedId, unclaimed, withdrawalEntry } from '../../core/domain/ledger/entries.ts'
import type { Account } from '../../core/domain/ledger/journal.ts'
import { refused, requireReason, type AuditNote } from '../../core/services/audit-note.ts'
import type { Destination } from '../ports/chain.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'

export type PayOutRequest = Readonly<{ assetId: AssetId; network: string; units: bigint; destination: Destination }>
export type PayOutResult = Readonly<{ payoutId: string; state: string; repeated: boolean }>

/** An amount as the person who is refused reads it. */
type Show = (units: bigint, assetId: AssetId) => string
const inUnits: Show = (units, assetId) => `${units} units of ${assetId}`

/** Pay-outs of the same deposit after ones that were dropped. */
const AGAIN_MAX = 20

/**
 * Pays out what the house owes by no exchange. The amount leaves the account that owes it in the transaction that queues
 * the payout; the house pays the network's fee. The id follows from whom it pays and the key, also after a restore: asked
 * for twice it is paid once, and the signers' journals know it again.
 */
export function createOperateBalances(store: Store, show: Show = inUnits) {
  return {
    /** What a partner has with us, by asset. */
    async balances(partnerId: string): Promise<ReadonlyMap<AssetId, bigint>> {
      const owed = await store.ledger.balances(partnerAccount(partnerId))
      return new Map([...owed].map(([assetId, units]) => [assetId, -units]))
    },
    payOut: (
      partner: Readonly<{ id: string; name: string }>,
      wanted: PayOutRequest,
      key: string,
      word: AuditNote,
    ): Promise<PayOutResult> =>
      store.transaction(async (tx) => {
        requireReason(word)
        const from = partnerAccount(partner.id)
        const payout = { ...wanted, id: idOf(from, key), from, depositId: null }
        const known = await repeated(tx, payout, show)
        if (known?.state === 'void') throw refused(`the pay-out of this key was dropped: give it another key`)
        return known ?? (await queue(tx, payout, `partner ${partner.name}`, word, show))
      }),
    /** What came in with a deposit that nobody has claimed, as a whole, to whoever turns out to own it. */
    payUnclaimed: (
      depositId: string,
      check: (assetId: AssetId) => Promise<Destination>,
      word: AuditNote,
    ): Promise<PayOutResult & Readonly<{ assetId: AssetId; units: bigint }>> =>
      store.transaction(async (tx) => {
        requireReason(word)
        const found = await tx.operator.findUnclaimedDeposit(depositId)
        if (!found) throw refused(`nothing of deposit ${depositId} is unclaimed`)
        const { assetId, network, units } = found
        const wanted = { assetId, network, units, destination: await check(assetId) }
        for (let n = 0; n < AGAIN_MAX; n++) {
          const id = idOf(unclaimed, `deposit ${found.id} ${n}`)
          const payout = { ...wanted, id, from: unclaimed, depositId: found.id }
          const known = await repeated(tx, payout, show)
          if (known?.state === 'void') continue
          if (known) return { ...known, assetId, units }
          await tx.operator.markClaimed(found.id)
          await tx.alarms.clear(`unclaimed:${found.id}`)
          return { ...(await queue(tx, payout, `deposit ${found.id}`, word, show)), assetId, units }
        }
        throw refused(`the pay-outs of deposit ${depositId} were dropped again and again`)
      }),
  }
}

type Queued = PayOutRequest & Readonly<{ id: string; from: Account; depositId: string | null }>

/** RFC 9562 version 8: an id of our own making. */
function idOf(from: Account, key: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify(['withdrawal', from, key]))
    .digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

async function repeated(tx: StoreTx, wanted: Queued, show: Show): Promise<PayOutResult | null> {
  const [known] = await tx.payouts.find([wanted.id])
  if (!known) return null
  const { address, memo } = wanted.destination
  const isSame =
    known.assetId === wanted.assetId && known.units === wanted.units && known.address === address && known.memo === memo
  if (!isSame && known.state !== 'void')
    throw refused(`this was asked for already, as ${show(known.units, known.assetId)} to ${known.address}`)
  return { payoutId: known.id, state: known.state, repeated: true }
}

async function queue(tx: StoreTx, wanted: Queued, subject: string, word: AuditNote, show: Show): Promise<PayOutResult> {
  const { id, from, assetId, units, network, destination, depositId } = wanted
  const owed = -(await tx.ledger.balance(from, assetId))
  if (units <= 0n || units > owed)
    throw refused(`${subject} is owed ${show(owed, assetId)}, and not ${show(units, assetId)}`)
  const isNew = await tx.ledger.post(withdrawalEntry(id, from, assetId, units))
  // Somebody asks for the same at the same time, and was first.
  if (!isNew) return (await repeated(tx, wanted, show)) ?? { payoutId: id, state: 'reserved', repeated: true }
  await tx.payouts.insert({
    id,
    exchangeId: null,
    executionId: null,
    depositId,
    leg: null,
    purpose: 'withdrawal',
    network,
    assetId,
    from: 'hot',
    ...destination,
    units,
    owedFrom: from,
  })
  await tx.wake([{ kind: 'dispatch', id: network }])
  await tx.auditLog.record({
    ...word,
    act: 'pay-out',
    subject,
    detail: { payout: id, assetId, units, ...destination, journal: reservedId(id) },
    before: { account: from, assetId, owed },
    after: { account: from, assetId, owed: owed - units },
  })
  return { payoutId: id, state: 'reserved', repeated: false }
}
