import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { spendsInPlace } from '../../core/domain/network.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'

export type ReconcileDeps = Readonly<{
  store: Store
  assetById(id: AssetId): Asset
  log: Log
  onDifference(asset: AssetId, units: bigint): void
}>

/** Deposit addresses checked in one run. */
const TARGETS_MAX = 200

/**
 * Compares the ledger with the wallets. A difference raises an alarm, and pauses the network's payouts if funds are missing;
 * code never adjusts the ledger. It must exist in two consecutive runs, because funds move between the two readings.
 */
export function createReconcile({ store, assetById, log, onDifference }: ReconcileDeps) {
  const suspects = new Set<string>()

  async function compareWallet(chain: Chain): Promise<void> {
    const network = chain.network.id
    for (const { assetId: id, low, high, utxoUnits } of await store.reconciliation.positions(
      network,
      nativeId(chain.network),
    )) {
      const held = spendsInPlace(chain.network)
        ? utxoUnits
        : await chain.reader.balance(chain.addresses.hot(), assetById(id))
      const difference = held < low ? held - low : held > high ? held - high : 0n
      onDifference(id, difference)
      const subject = `difference:${id}`
      if (difference === 0n) {
        suspects.delete(subject)
        await store.alarms.clear(subject)
      } else if (suspects.has(subject)) {
        log.error({ network, asset: id, difference: difference.toString() }, 'ledger and chain differ')
        await store.alarms.raise(subject, 'ledger and chain differ', {
          difference: difference.toString(),
          held: held.toString(),
        })
        if (difference < 0n) await store.pauses.pause(`payouts:${network}`, 'ledger and chain differ', 'reconciler')
      } else {
        suspects.add(subject)
      }
    }
  }

  /** Native currency on deposit addresses that the scan missed: a node without traces does not report internal transfers. */
  async function findUnrecordedDeposits(chain: Chain): Promise<void> {
    if (spendsInPlace(chain.network)) return
    const native = assetById(nativeId(chain.network))
    for (const { exchangeId, address, recorded } of await store.reconciliation.openTargets(
      chain.network.id,
      TARGETS_MAX,
    )) {
      const held = await chain.reader.balance(address, native)
      if (held > recorded)
        await store.alarms.raise(`unseen:${exchangeId}`, 'a deposit address holds more than the scan recorded', {
          address,
          units: (held - recorded).toString(),
        })
      else await store.alarms.clear(`unseen:${exchangeId}`)
    }
  }

  return async function reconcile(chain: Chain): Promise<void> {
    await compareWallet(chain)
    await findUnrecordedDeposits(chain)
  }
}
