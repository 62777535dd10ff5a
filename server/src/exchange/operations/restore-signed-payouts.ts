import { signedEntry } from '../../core/domain/ledger/entries.ts'
import { timeOrderedId } from '../../lib/id.ts'
import { exchangeJobs } from '../payouts/outgoing.ts'
import { type PayoutRelease, inputsOf } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { ImportableTransaction } from '../ports/store/signing-journal.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'

export type RestoreOutcome = Readonly<{ network: string; txHash: string; outcome: 'imported' | 'waits'; why: string | null }>

const MOST = 1_000

/**
 * Takes what left the house before the database was restored into it again, as if it had been signed here: the payouts are
 * paid, the nonces and coins are used, and the chain says what became of it. Only what the database asks for once more, to
 * the unit; while payouts are held, the steps ask for it as soon as the deposits are found again.
 */
export async function restoreSignedPayouts(store: Store): Promise<readonly RestoreOutcome[]> {
  const imported: RestoreOutcome[] = []
  const all = await store.signingJournal.listImportable(MOST)
  for (const departure of all) {
    const { network, txHash } = departure
    const why = await store.transaction((tx) => importOne(tx, departure, all))
    imported.push({ network, txHash, outcome: why === null ? 'imported' : 'waits', why })
  }
  return imported
}

async function importOne(tx: StoreTx, departure: ImportableTransaction, all: readonly ImportableTransaction[]): Promise<string | null> {
  const { network, txHash, conflictKey, releases, wallet, from, intent } = departure
  if (isOutlived(departure, all)) return 'its payouts left again by another transaction, after it was proven dead'
  const nonce = await tx.transactions.lockLane(network, wallet)
  const payouts = await tx.payouts.find(releases.map(({ payoutId }) => payoutId))
  const holder = await tx.signingJournal.findByConflictKey(network, conflictKey)
  const id = holder ?? timeOrderedId()
  const coins = inputsOf(intent).map(({ outpoint }) => outpoint)
  const resources = coins.length > 0 ? coins : [conflictKey]
  if (holder === null) {
    const why = whyNot(releases, payouts)
    if (why !== null) return why
    await tx.transactions.insert({
      id,
      network,
      from,
      wallet,
      conflictKey,
      resources,
      nonce: intent.family === 'evm' ? Math.max(nonce - 1, intent.nonce) : null,
    })
  } else if (payouts.some(({ state }) => state === 'reserved') || payouts.length !== releases.length) {
    return 'another transaction has its nonce or its coins'
  }
  await tx.transactions.addAttempt(id, {
    ...departure,
    outpoints: coins,
  })
  if (holder === null) await book(tx, id, payouts)
  await tx.signingJournal.markImported(network, txHash)
  await tx.wake([{ kind: 'transaction', id }, ...exchangeJobs(payouts)])
  return null
}

/** As the dispatch books it at the signature. */
async function book(tx: StoreTx, id: string, payouts: readonly Payout[]): Promise<void> {
  await tx.payouts.sign(
    payouts.map((payout) => payout.id),
    id,
  )
  for (const payout of payouts) {
    await tx.ledger.post(signedEntry({ ...payout, payoutId: payout.id, transactionId: id }))
    if (payout.orderId !== null) await tx.inventory.release(payout.orderId)
  }
}

/** A payout that left twice did so by proof of the first one's death. */
function isOutlived({ releases, conflictKey }: ImportableTransaction, all: readonly ImportableTransaction[]): boolean {
  return releases.some(({ payoutId, at }) =>
    all.some(
      (other) =>
        other.conflictKey !== conflictKey &&
        other.releases.some((release) => release.payoutId === payoutId && release.at > at),
    ),
  )
}

function whyNot(releases: readonly PayoutRelease[], payouts: readonly Payout[]): string | null {
  const byId = new Map(payouts.map((payout) => [payout.id, payout]))
  for (const release of releases) {
    const payout = byId.get(release.payoutId)
    if (!payout) return `the database does not ask for payout ${release.payoutId} yet`
    if (payout.state !== 'reserved') return `payout ${payout.id} is ${payout.state} already`
    const isSame =
      payout.assetId === release.assetId &&
      payout.address === release.address &&
      payout.memo === release.memo &&
      payout.units === release.units
    if (!isSame) return `payout ${payout.id} asks for ${payout.units} units now, and ${release.units} left`
  }
  return null
}
