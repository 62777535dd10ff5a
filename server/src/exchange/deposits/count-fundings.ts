import { fundingEntry, fundingReversalEntry, unownedFundingReversalEntry } from '../../core/domain/ledger/entries.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Deposit } from '../ports/store/execution.ts'
import type { Store } from '../ports/store/store.ts'
import { creditUnclaimed } from './credit-unclaimed.ts'

export type FundingDeps = Readonly<{ store: Store; log: Log }>

/** Fundings per turn of a watcher. */
const FUNDINGS_MAX = 100

/**
 * Credits transfers to hot wallets that belong to no exchange, once they are deep enough and all nodes agree. Reverses
 * credited ones that left the chain.
 */
export function createCountFundings(deps: FundingDeps) {
  return async function countFundings(chain: Chain): Promise<void> {
    const network = chain.network.id
    const each = async (deposits: readonly Deposit[], work: (deposit: Deposit) => Promise<void>) => {
      // An unreadable funding must not stop the others or the watcher.
      for (const deposit of deposits)
        await work(deposit).catch((err: unknown) =>
          deps.log.warn({ network, depositId: deposit.id, err }, 'funding not processed'),
        )
    }
    const orphaned = await deps.store.recovery.listOrphanedFundings(network, FUNDINGS_MAX)
    await each(orphaned, (deposit) => reverseFunding(deps, deposit))
    const uncredited = await deps.store.wallets.listFundings(network, FUNDINGS_MAX)
    await each(uncredited, (deposit) => creditFunding(deps, chain, deposit))
  }
}

async function creditFunding({ store, log }: FundingDeps, chain: Chain, listed: Deposit): Promise<void> {
  const { id, txHash, unclaimed, block, assetId } = listed
  const { id: network, finalityBlocks } = chain.network
  if (!block || assetId === null || !(await chain.reader.agrees(block))) return
  const units = await chain.reader.receivedUnits(listed, block)
  if (units === 0n && !(await chain.reader.agrees(block))) return
  const isCredited = await store.transaction(async (tx) => {
    // Another watcher may have credited it since, and reversed that: the number of credits names the entry (I-27).
    const deposit = await tx.wallets.findFunding(id)
    if (deposit?.block?.hash !== block.hash) return false
    const [stored, cursor] = [await tx.chainLog.blockHash(network, block.height), await tx.chainLog.cursor(network)]
    // Older than the stored blocks: final, and all nodes have just agreed on it.
    const isFinal = stored === null && (cursor?.height ?? 0) - block.height > finalityBlocks
    if (stored !== block.hash && !isFinal) return false
    if (units === 0n) {
      await tx.chainLog.saveDeposit({ ...deposit, status: 'rejected', creditedUnits: null, isBookedAsLoss: false })
      return false
    }
    const credits = deposit.credits + 1
    if (unclaimed) {
      // Perhaps a customer's mistake.
      await creditUnclaimed(
        tx,
        { network, depositId: id, credits, assetId, units },
        'coins that belong to no exchange arrived at the hot wallet',
        { txHash, memo: deposit.memo },
      )
    } else {
      await tx.chainLog.saveDeposit({ id, status: 'credited', creditedUnits: units, credits, isBookedAsLoss: false })
      await tx.ledger.post(fundingEntry(id, credits, assetId, units))
      await tx.alarms.clear(`funding:${id}`)
    }
    return true
  })
  if (isCredited)
    log.info({ network, depositId: id, txHash, assetId, units: units.toString(), unclaimed }, 'funding credited')
}

/**
 * Reverses a credited funding that left the chain, and pauses the asset if its wallet no longer covers what is reserved. If
 * the wallet has already paid the money out, nothing can be reversed: the asset is paused, and later turns try again.
 */
async function reverseFunding({ store, log }: FundingDeps, { id, network, txHash }: Deposit): Promise<void> {
  const reversed = await store.transaction(async (tx) => {
    const [funding] = (await tx.recovery.listOrphanedFundings(network, FUNDINGS_MAX)).filter((one) => one.id === id)
    const [assetId, units] = [funding?.assetId ?? null, funding?.creditedUnits ?? null]
    // It is in a block again.
    if (!funding || assetId === null || units === null) return null
    const { credits, unclaimed } = funding
    const held = await tx.ledger.balance('asset:wallet', assetId)
    if (held >= units) {
      await tx.ledger.post(
        (unclaimed ? unownedFundingReversalEntry : fundingReversalEntry)(id, credits, assetId, units),
      )
      await tx.chainLog.saveDeposit({ id, status: 'reversed', creditedUnits: null, credits, isBookedAsLoss: false })
    }
    const missing = held >= units ? await tx.recovery.shortfall(assetId) : units - held
    await tx.alarms.raise(`funding:${id}`, 'a counted funding left the chain', {
      network,
      depositId: id,
      txHash,
      assetId,
      units: units.toString(),
      missing: missing.toString(),
      takenBack: held >= units,
    })
    if (missing > 0n) await tx.pauses.pause(`asset:${assetId}`, 'a funding left the chain', 'watcher')
    // Logged once; an uncovered funding comes back in each turn.
    return held >= units ? { assetId, units: units.toString() } : null
  })
  if (reversed !== null) log.error({ network, depositId: id, txHash, ...reversed }, 'funding reversed')
}
