import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'

type WatchNoncesDeps = Readonly<{ store: Pick<Store, 'transactions' | 'alarms'>; log: Log }>

/** Unmined for this long before the nodes are asked. */
const WAITED_MS = 60_000
/** Wallets in one check, those that wait longest first. Each costs one request to each node. */
const WALLETS_MAX = 50

/**
 * Finds nonces that the chain expects and no transaction has, while later ones wait (I-26): a restored database has lost them. The
 * wallet's next transaction takes such a nonce. Each is found in two checks before it counts, because a transaction may be signed
 * or imported between two readings.
 */
export function createWatchNonces({ store, log }: WatchNoncesDeps) {
  const { transactions, alarms } = store
  /** `wallet:nonce` of the last check, by network. */
  const suspects = new Map<string, ReadonlySet<string>>()

  return async function watchNonces({ network: { id }, reader }: Chain): Promise<void> {
    if (reader.minedNonce === undefined) return
    const before = suspects.get(id) ?? new Set()
    const found = new Set<string>()
    for (const { wallet, lowestNonce } of await transactions.listWaitingLanes(id, WAITED_MS, WALLETS_MAX)) {
      const missing = await reader.minedNonce(wallet)
      if (missing >= lowestNonce) continue
      const suspect = `${wallet}:${missing}`
      found.add(suspect)
      if (before.has(suspect)) await transactions.reopenNonce(id, wallet, missing)
    }
    suspects.set(id, found)

    const open: string[] = []
    // Of all processes, and until the nonce is taken.
    for (const { wallet, nonce } of await transactions.listGaps(id, WALLETS_MAX)) {
      if ((await reader.minedNonce(wallet)) > nonce) {
        await transactions.closeGap(id, wallet, nonce)
        continue
      }
      open.push(wallet)
      log.error({ network: id, wallet, nonce }, 'a nonce is in no transaction')
      await alarms.raise(`nonce-gap:${id}:${wallet}`, 'a nonce is in no transaction, and later ones wait for it', {
        wallet,
        missing: nonce,
      })
    }
    await alarms.clearOthers(`nonce-gap:${id}:`, open)
  }
}
