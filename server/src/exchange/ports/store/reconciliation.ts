import type { AssetId } from '../../../core/domain/asset.ts'
import type { RecordedUtxo } from '../spend.ts'

/** Expected balance of one hot wallet by the ledger: between `low` and `high`, depending on unconfirmed transactions. */
export type Position = Readonly<{ assetId: AssetId; low: bigint; high: bigint; utxoUnits: bigint }>

/**
 * What is wrong in the ledger. `sum`: the balances of an asset do not sum to zero. `balance`: the stored balance of one
 * account differs from the sum of its postings.
 */
export type LedgerFault =
  | Readonly<{ kind: 'sum'; assetId: AssetId; units: bigint }>
  | Readonly<{ kind: 'balance'; assetId: AssetId; account: string; stored: bigint; posted: bigint }>

/** What is open on a network. `exchangeId` is the newest one; null = none. */
export type OpenOnNetwork = Readonly<{
  network: string
  exchanges: number
  exchangeId: string | null
  transactions: number
  payouts: number
}>

/** One asset on one deposit address. */
export type DepositAccount = Readonly<{ address: string; assetId: AssetId }>

/** `units` that the address holds at least, by its credited deposits without a sweep. `isReported`: it has an alarm. */
export type UnsweptDeposits = DepositAccount & Readonly<{ units: bigint; isReported: boolean }>

/** `recorded`: units of the asset that are known to have reached the address. `isReported`: it has the alarm `unseen:…`. */
export type DepositTarget = DepositAccount & Readonly<{ exchangeId: string; recorded: bigint; isReported: boolean }>

/** What an alarm reports as missing, and what of it an operator has acknowledged, in base units. */
export type MissingUnits = Readonly<{ subject: string; units: bigint; acknowledgedUnits: bigint }>

/** `height` is the last block that was recorded, and `since` (UTC) when the watcher was last at the head. */
export type StalledNetwork = Readonly<{ network: string; height: number; since: string }>

/** `since` (UTC): when the ledger was last compared with the wallets of this network. */
export type UncomparedNetwork = Readonly<{ network: string; since: string }>

export interface ReconciliationStore {
  /** `native` is the asset that network fees are paid in. */
  positions(network: string, native: AssetId): Promise<readonly Position[]>
  /** Confirmed outputs that no transaction of ours spends: the next ones after an outpoint, in the order of their outpoints. */
  freeUtxos(network: string, after: string, limit: number): Promise<readonly RecordedUtxo[]>
  /** Those of the outpoints that `freeUtxos` would list. */
  freeUtxosAmong(network: string, outpoints: readonly string[]): Promise<readonly RecordedUtxo[]>
  /** Open exchanges whose customers pay on a network, the newest first: those before an id, or from the newest on. */
  openExchanges(network: string, before: string | null, limit: number): Promise<readonly string[]>
  /** Deposit addresses of the exchanges, and of some with the alarm `unseen:…`. Skips addresses with very many deposits. */
  depositTargets(network: string, exchangeIds: readonly string[]): Promise<readonly DepositTarget[]>
  /**
   * Credited deposits without a sweep: of the accounts after `next.after`, in the order of their addresses, and again of the
   * suspects and of accounts with an alarm. `native` is not stated for an address that has sent a transaction, which paid gas.
   */
  unsweptDeposits(
    network: string,
    native: AssetId,
    suspects: readonly DepositAccount[],
    next: Readonly<{ after: DepositAccount | null; limit: number }> | null,
  ): Promise<Readonly<{ page: readonly UnsweptDeposits[]; again: readonly UnsweptDeposits[] }>>
  /** What open alarms about wallets and deposit addresses of a network report as missing. Locks them in a transaction. */
  listShortfalls(network: string): Promise<readonly MissingUnits[]>
  /** Marks these units as known to an operator, for `reportShortfall`. */
  acknowledgeShortfalls(shortfalls: readonly Pick<MissingUnits, 'subject' | 'units'>[]): Promise<void>
  /** Reads the whole ledger in one snapshot. Any fault is a bug or tampering (I-1). */
  ledgerFaults(limit: number): Promise<readonly LedgerFault[]>
  /** Networks other than these that have open exchanges, unsettled transactions or queued payouts. */
  listOpenElsewhere(networks: readonly string[]): Promise<readonly OpenOnNetwork[]>
  /** Those of the networks that were recorded up to the head longer ago than this. */
  listStalled(networks: readonly string[], agoMs: number): Promise<readonly StalledNetwork[]>
  /** Notes that the ledger was compared with the wallets of a network just now. */
  recordComparison(network: string): Promise<void>
  /** Those of the networks that no process compared for so long, or since it was first asked for. */
  listUncompared(networks: readonly string[], agoMs: number): Promise<readonly UncomparedNetwork[]>
  /** Number of open exchanges by status. */
  openByStatus(): Promise<ReadonlyMap<string, number>>
}
