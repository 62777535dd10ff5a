import {
  fundingEntry,
  fundingReversalEntry,
  unknownMemoEntry,
  unknownMemoReversalEntry,
} from '../../core/domain/ledger/entries.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Deposit } from '../ports/store/execution.ts'
import type { Store } from '../ports/store/store.ts'

export type FundingDeps = Readonly<{ store: Store; log: Log }>

/** Fundings looked at in one turn of a watcher. */
const FUNDINGS_MAX = 100

/**
 * Counts what came to the hot wallet outside of every exchange, once it is deep enough and every node agrees; and takes
 * back what left the chain after it was counted.
 */
export function createCountFundings(deps: FundingDeps) {
  return async function countFundings(chain: Chain): Promise<void> {
    const network = chain.network.id
    const each = async (deposits: readonly Deposit[], work: (deposit: Deposit) => Promise<void>) => {
      // One that cannot be read holds up neither the others nor the watcher.
      for (const deposit of deposits)
        await work(deposit).catch((err: unknown) =>
          deps.log.warn({ network, depositId: deposit.id, err }, 'funding not counted'),
        )
    }
    const lost = await deps.store.recovery.listOrphanedFundings(network, FUNDINGS_MAX)
    await each(lost, (deposit) => takeBack(deps, deposit))
    const arrived = await deps.store.wallets.listFundings(network, FUNDINGS_MAX)
    await each(arrived, (deposit) => countFunding(deps, chain, deposit))
  }
}

async function countFunding({ store, log }: FundingDeps, chain: Chain, deposit: Deposit): Promise<void> {
  const { id, block, assetId: asset } = deposit
  const { id: network, finalityBlocks } = chain.network
  if (!block || asset === null || !(await chain.reader.agrees(block))) return
  const units = await chain.reader.receivedUnits(deposit, block)
  if (units === 0n && !(await chain.reader.agrees(block))) return
  await store.transaction(async (tx) => {
    const [stored, cursor] = [await tx.chainLog.blockHash(network, block.height), await tx.chainLog.cursor(network)]
    // Older than the blocks that are kept: final, and every node has just agreed on it.
    const isBuried = stored === null && (cursor?.height ?? 0) - block.height > finalityBlocks
    if (stored !== block.hash && !isBuried) return
    if (units === 0n)
      return tx.chainLog.saveDeposit({ ...deposit, status: 'rejected', creditedUnits: null, lost: false })
    const credits = deposit.credits + 1
    await tx.chainLog.saveDeposit({ id, status: 'credited', creditedUnits: units, credits, lost: false })
    if (deposit.unclaimed) {
      // Somebody's deposit with a slip in its memo, more likely than the operator's own coins.
      await tx.ledger.post(unknownMemoEntry(id, credits, asset, units))
      await tx.alarms.raise(`unclaimed:${id}`, "coins came to a shared address with a memo that is nobody's", {
        network,
        txHash: deposit.txHash,
        memo: deposit.memo,
        assetId: asset,
        units: units.toString(),
      })
    } else {
      await tx.ledger.post(fundingEntry(id, credits, asset, units))
      await tx.alarms.clear(`funding:${id}`)
    }
    log.info({ network, asset, units: units.toString(), unclaimed: deposit.unclaimed }, 'funding counted')
  })
}

/**
 * The books say what the chain says: the operator's capital is less, and nothing is paid of an asset whose wallet no longer
 * covers what is promised of it. Where the wallet has paid the coins out already there is nothing to take back: the asset
 * stands still until the wallet is filled, and it is tried again.
 */
async function takeBack({ store, log }: FundingDeps, { id, network, txHash }: Deposit): Promise<void> {
  await store.transaction(async (tx) => {
    const [funding] = (await tx.recovery.listOrphanedFundings(network, FUNDINGS_MAX)).filter((one) => one.id === id)
    const [asset, units] = [funding?.assetId ?? null, funding?.creditedUnits ?? null]
    // Back in a block meanwhile.
    if (!funding || asset === null || units === null) return
    const { credits, unclaimed } = funding
    const held = await tx.ledger.balance('asset:wallet', asset)
    if (held >= units) {
      await tx.ledger.post((unclaimed ? unknownMemoReversalEntry : fundingReversalEntry)(id, credits, asset, units))
      await tx.chainLog.saveDeposit({ id, status: 'reversed', creditedUnits: null, credits, lost: false })
    }
    const missing = held >= units ? await tx.recovery.shortfall(asset) : units - held
    await tx.alarms.raise(`funding:${id}`, 'a counted funding left the chain', {
      network,
      txHash,
      assetId: asset,
      units: units.toString(),
      missing: missing.toString(),
      takenBack: held >= units,
    })
    if (missing > 0n) await tx.pauses.pause(`asset:${asset}`, 'a funding left the chain', 'watcher')
    // Once: the next turns find it again for as long as the wallet does not cover it.
    if (held >= units) log.error({ network, txHash, asset, units: units.toString() }, 'funding taken back')
  })
}
