import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'

type WatchNoncesDeps = Readonly<{ store: Pick<Store, 'transaction' | 'transactions' | 'alarms'>; log: Log }>

/** Unmined for this long before the nodes are asked. */
const WAITED_MS = 60_000
/** Wallets in one check: the hot wallet, then those that wait longest. Each costs one request to each node. */
const WALLETS_MAX = 50
const GAPS_PAGE = 100

/**
 * Finds nonces that the chain expects and no transaction has, while later ones wait (I-26): a restored database has lost them. The
 * wallet's next transaction takes such a nonce. The node with the most mined transactions decides, so that one that lags or lies
 * invents no gap. Each is found in two checks before it counts, because a transaction may be signed or imported between two
 * readings.
 */
export function createWatchNonces({ store, log }: WatchNoncesDeps) {
  const { transactions, alarms } = store
  /** `wallet:nonce` of the last check, by network. */
  const suspects = new Map<string, ReadonlySet<string>>()

  async function findGaps({ network: { id }, addresses }: Chain, countMined: CountMined): Promise<void> {
    const before = suspects.get(id) ?? new Set()
    const found = new Set<string>()
    const waiting = await transactions.listWaitingLanes(id, addresses.hot(), WAITED_MS, WALLETS_MAX)
    for (const { wallet, lowestNonce } of waiting) {
      const missing = await countMined(wallet)
      if (missing >= lowestNonce) continue
      const suspect = `${wallet}:${missing}`
      found.add(suspect)
      if (before.has(suspect)) await store.transaction((tx) => tx.transactions.reopenNonce(id, wallet, missing))
    }
    suspects.set(id, found)
  }

  /** Of all processes, until the nonce is taken or mined. */
  async function reportGaps({ network: { id } }: Chain, countMined: CountMined): Promise<void> {
    const open: string[] = []
    const list = (after: string) => transactions.listGaps(id, after, GAPS_PAGE)
    for (let page = await list(''); page.length > 0; page = await list(page.at(-1)?.wallet ?? '')) {
      for (const { wallet, nonce } of page) {
        if ((await countMined(wallet)) > nonce) {
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
    }
    await alarms.clearOthers(`nonce-gap:${id}:`, open)
  }

  return async function watchNonces(chain: Chain): Promise<void> {
    const { minedNonce } = chain.reader
    if (minedNonce === undefined) return
    const countMined: CountMined = (wallet) => minedNonce(wallet, 'most')
    await findGaps(chain, countMined)
    await reportGaps(chain, countMined)
  }
}

type CountMined = (wallet: string) => Promise<number>
