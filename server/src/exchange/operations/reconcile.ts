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

/** Deposit addresses whose balance is asked for in one run. */
const TARGETS_MAX = 200

/**
 * Compares the ledger with the chains. A difference is an alarm that stops the network's payouts, never an adjustment by
 * code; it must stand in two runs, because money moves while the two sides are read.
 */
export function createReconcile({ store, assetById, log, onDifference }: ReconcileDeps) {
  const suspected = new Set<string>()

  async function compareWallet(chain: Chain): Promise<void> {
    const network = chain.network.id
    for (const { assetId: id, low, high, utxoUnits: coins } of await store.reconciliation.positions(
      network,
      nativeId(chain.network),
    )) {
      const held = spendsInPlace(chain.network)
        ? coins
        : await chain.reader.balance(chain.addresses.hot(), assetById(id))
      const difference = held < low ? held - low : held > high ? held - high : 0n
      onDifference(id, difference)
      const subject = `difference:${id}`
      if (difference === 0n) {
        suspected.delete(subject)
        await store.alarms.clear(subject)
      } else if (suspected.has(subject)) {
        log.error({ network, asset: id, difference: difference.toString() }, 'ledger and chain differ')
        await store.alarms.raise(subject, 'ledger and chain differ', {
          difference: difference.toString(),
          held: held.toString(),
        })
        if (difference < 0n) await store.pauses.pause(`payouts:${network}`, 'ledger and chain differ', 'reconciler')
      } else {
        suspected.add(subject)
      }
    }
  }

  /** Coin that no log and no trace showed: contracts can pay in ways that a node without traces does not tell. */
  async function lookForUnseen(chain: Chain): Promise<void> {
    if (spendsInPlace(chain.network)) return
    const native = assetById(nativeId(chain.network))
    for (const { exchangeId, address, recorded } of await store.reconciliation.openTargets(
      chain.network.id,
      TARGETS_MAX,
    )) {
      const held = await chain.reader.balance(address, native)
      if (held > recorded)
        await store.alarms.raise(`unseen:${exchangeId}`, 'coin lies on a deposit address that no scan showed', {
          address,
          units: (held - recorded).toString(),
        })
      else await store.alarms.clear(`unseen:${exchangeId}`)
    }
  }

  return async function reconcile(chain: Chain): Promise<void> {
    await compareWallet(chain)
    await lookForUnseen(chain)
  }
}
