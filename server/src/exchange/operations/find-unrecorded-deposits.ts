import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { isUtxoFamily } from '../../core/domain/network.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { DepositTarget } from '../ports/store/reconciliation.ts'
import type { Store } from '../ports/store/store.ts'

export type FindUnrecordedDepositsDeps = Readonly<{
  store: Store
  assetById(id: AssetId): Asset
  log: Log
  /** How often one process of all reads further addresses. */
  everyMs: number
}>

/** Exchanges of one network that are read in one run: the newest, and as many of the others, which the next run continues. */
const EXCHANGES_MAX = 200
/** Balances that are read at the same time. */
const CONCURRENCY = 8

/**
 * Payments at the deposit addresses of open exchanges that the scan did not record: a node without traces does not report
 * internal transfers, and a node may lack a log. An address that held more in two consecutive runs raises an alarm, because
 * the watcher may be a block behind. Recorded deposits count whether or not they were swept, because sweeps leave a rest:
 * after a sweep only a payment above them shows. Bitcoin and Monero have no balance by address: their scan has no such gaps.
 */
export function createFindUnrecordedDeposits({ store, assetById, log, everyMs }: FindUnrecordedDepositsDeps) {
  /** By network: where the next run continues, and the exchanges whose address held more. */
  const walks = new Map<string, { before: string | null; suspects: ReadonlySet<string> }>()

  /** True if the address holds more than recorded, or held more and does not answer. */
  async function holdsMore({ network, reader }: Chain, target: DepositTarget, isSuspect: boolean): Promise<boolean> {
    const { exchangeId, address, assetId, recorded, isReported } = target
    const held = await reader.balance(address, assetById(assetId)).catch((err: unknown) => {
      // A token that refuses to answer must not hide the other addresses.
      log.warn({ network: network.id, address, assetId, err }, 'the balance of a deposit address is unknown')
      return null
    })
    if (held === null) return isSuspect
    const subject = `unseen:${exchangeId}`
    if (held <= recorded) {
      if (isReported) await store.alarms.clear(subject)
      return false
    }
    if (!isReported && !isSuspect) return true
    const units = (held - recorded).toString()
    const detail = { address, assetId, units }
    if (!isReported) log.error({ network: network.id, exchangeId, ...detail }, 'the scan did not record a payment')
    await store.alarms.raise(subject, 'a deposit address holds more than the scan recorded', detail)
    return true
  }

  return async function findUnrecordedDeposits(chain: Chain): Promise<void> {
    const { id } = chain.network
    if (isUtxoFamily(chain.network)) return
    if (!(await store.jobs.claimTurn(`unrecorded deposits:${id}`, everyMs))) return
    const { before, suspects } = walks.get(id) ?? { before: null, suspects: new Set<string>() }
    const newest = await store.reconciliation.openExchanges(id, null, EXCHANGES_MAX)
    const next = before ?? newest.at(-1) ?? null
    const page = next === null ? [] : await store.reconciliation.openExchanges(id, next, EXCHANGES_MAX)
    const targets = await store.reconciliation.depositTargets(id, [...new Set([...newest, ...page, ...suspects])])
    const found = new Set<string>()
    for (let n = 0; n < targets.length; n += CONCURRENCY)
      await Promise.all(
        targets.slice(n, n + CONCURRENCY).map(async (target) => {
          if (await holdsMore(chain, target, suspects.has(target.exchangeId))) found.add(target.exchangeId)
        }),
      )
    walks.set(id, { before: page.length < EXCHANGES_MAX ? null : (page.at(-1) ?? null), suspects: found })
  }
}
