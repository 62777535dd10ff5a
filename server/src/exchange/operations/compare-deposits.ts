import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { isUtxoFamily } from '../../core/domain/network.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { DepositAccount, UnsweptDeposits } from '../ports/store/reconciliation.ts'
import type { Store } from '../ports/store/store.ts'
import { reportShortfall } from './report-shortfall.ts'

export type CompareDepositsDeps = Readonly<{
  store: Store
  assetById(id: AssetId): Asset
  log: Log
  /** How often one process of all reads further addresses. */
  everyMs: number
}>

/** Addresses of one network that are read in one run; the next run continues after them. */
const ADDRESSES_MAX = 50
/** Addresses that held less than recorded, and are read again in the next run. */
const SUSPECTS_MAX = 50

const ALARM = 'a deposit address holds less than its deposits'

type Walk = Readonly<{ after: DepositAccount | null; suspects: readonly DepositAccount[] }>

const keyOf = ({ address, assetId }: DepositAccount) => `${address}:${assetId}`

/**
 * Compares the credited deposits that no sweep has taken with what their addresses hold (I-7). An address that held less in
 * two consecutive runs raises an alarm and pauses the network's payouts, again if more is missing than an operator has
 * acknowledged: every deposit key comes from the seed of the hot wallet. Bitcoin and Monero spend deposits where they are, so the comparison of their wallets includes them.
 */
export function createCompareDeposits({ store, assetById, log, everyMs }: CompareDepositsDeps) {
  const walks = new Map<string, Walk>()

  /** True if the address held less than recorded, now or when it was last read. */
  async function isShort({ network, reader }: Chain, account: UnsweptDeposits, isSuspect: boolean): Promise<boolean> {
    const { address, assetId, units, isReported } = account
    const subject = `unswept:${network.id}:${keyOf(account)}`
    const held = await reader.balance(address, assetById(assetId)).catch((err: unknown) => {
      // A token that refuses to answer must not hide the other addresses.
      log.warn({ network: network.id, address, assetId, err }, 'the balance of a deposit address is unknown')
      return null
    })
    if (held === null) return isSuspect
    if (held >= units) {
      if (isReported) await store.alarms.clear(subject)
      return false
    }
    if (!isReported && !isSuspect) return true
    const missing = units - held
    const detail = { address, assetId, missing: missing.toString() }
    if (!isReported) log.error({ network: network.id, ...detail }, ALARM)
    const shortfall = { least: missing, most: missing }
    await reportShortfall(store, { network: network.id, subject, alarm: ALARM, detail, shortfall })
    return true
  }

  return async function compareDeposits(chain: Chain): Promise<void> {
    const { network } = chain
    if (isUtxoFamily(network)) return
    const { after, suspects } = walks.get(network.id) ?? { after: null, suspects: [] }
    const isTurn = await store.jobs.claimTurn(`unswept deposits:${network.id}`, everyMs)
    const next = isTurn ? { after, limit: ADDRESSES_MAX } : null
    const native = nativeId(network)
    const { page, again } = await store.reconciliation.unsweptDeposits(network.id, native, suspects, next)
    const accounts = new Map([...page, ...again].map((account) => [keyOf(account), account]))
    const suspected = new Set(suspects.map(keyOf))
    const short: DepositAccount[] = []
    for (const [key, account] of accounts) if (await isShort(chain, account, suspected.has(key))) short.push(account)
    const last = page.length < ADDRESSES_MAX ? null : (page.at(-1) ?? null)
    walks.set(network.id, { after: isTurn ? last : after, suspects: short.slice(0, SUSPECTS_MAX) })
  }
}
