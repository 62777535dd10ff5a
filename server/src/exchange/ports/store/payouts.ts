import type { AssetId } from '../../../core/domain/asset.ts'
import type { Account } from '../../../core/domain/ledger/chart.ts'
import type { PayoutPurpose } from '../../../core/domain/payout-purpose.ts'
import type { KeyPath } from '../spend.ts'

export type Payout = Readonly<{
  id: string
  exchangeId: string | null
  executionId: string | null
  depositId: string | null
  leg: number | null
  partnerId: string | null
  purpose: PayoutPurpose
  network: string
  assetId: AssetId
  from: KeyPath
  address: string
  /** Of a gas supply: derivation index of the deposit address that it pays; null if that is none of ours. */
  toKeyIndex: number | null
  memo: string | null
  units: bigint
  approved: boolean
  /** The venue order whose proceeds it pays. */
  orderId: string | null
  /** Account that a withdrawal is taken from; null = not a withdrawal. */
  owedFrom: Account | null
  /** Authentication code of its payee and terms; null = a payout to ourselves. The signer checks it again. */
  mac: string | null
  /** False: the row was not written by this program, or was changed since (I-39). */
  isAuthentic: boolean
  /** It was confirmed and reversed after its exchange had closed; `liability:lost:PAYOUT` owes the amount (I-36). */
  isReversed: boolean
  state: 'reserved' | 'signed' | 'confirmed' | 'void'
}>

/** `count`: payouts that wait for the same cause, this one included. */
export type WaitingPayout = Pick<Payout, 'id' | 'exchangeId' | 'assetId' | 'units'> &
  Readonly<{ createdAt: Date; count: number }>

export interface PayoutStore {
  /** `from: 'hot'` is the hot wallet of the network, by the key with which it was registered. */
  insert(
    payout: Omit<
      Payout,
      | 'state'
      | 'toKeyIndex'
      | 'partnerId'
      | 'approved'
      | 'orderId'
      | 'owedFrom'
      | 'mac'
      | 'isAuthentic'
      | 'isReversed'
      | 'from'
    > &
      Partial<Pick<Payout, 'owedFrom'>> & { from: 'hot' | KeyPath; delayMs?: number },
  ): Promise<void>
  /**
   * Queued payouts, by the time at which they became ready; a held payout becomes ready when its hold ends. Omits paused
   * scopes, and consolidations while others wait. Inside a transaction: locks the rows, skips locked ones. Payouts and refunds
   * need a credited, deep deposit (I-34), which stays locked.
   */
  queue(network: string, limit: number): Promise<readonly Payout[]>
  listByTransaction(transactionId: string): Promise<readonly Payout[]>
  /** Whether the deposits behind a transaction's payouts are still credited and deep enough (I-34). Locks them. */
  haveCreditedDeposits(transactionId: string): Promise<boolean>
  /** Whether the deposit of the execution, and that of the leg before, are credited and deep enough (I-34). Locks them. */
  isBacked(executionId: string): Promise<boolean>
  find(ids: readonly string[]): Promise<readonly Payout[]>
  sign(ids: readonly string[], transactionId: string): Promise<void>
  confirm(transactionId: string): Promise<void>
  /** Holds queued payouts for the operator, for the reason `attention`. Does not change signed payouts. */
  holdForOperator(ids: readonly string[], attention: string): Promise<void>
  /** Tries queued payouts again after this time, without an alarm. Does not change signed payouts. */
  retryAfter(ids: readonly string[], delayMs: number): Promise<void>
  /**
   * Postpones queued payouts by 5 s, and each time twice as long, up to `maxMs`, by default 5 min. `waitsFor`: subject of the alarm
   * about the cause.
   */
  postpone(ids: readonly string[], waitsFor: string, maxMs?: number): Promise<void>
  /** The oldest payout that was postponed for this cause and still waits, and how many wait. */
  oldestWaiting(waitsFor: string): Promise<WaitingPayout | null>
  /** Clears the alarms of these kinds whose cause no payout waits for. */
  clearEndedWaits(kinds: readonly string[]): Promise<void>
  /** Returns the payouts of an invalidated transaction to the queue, or with `attention` holds them for the operator. */
  requeue(transactionId: string, attention: string | null): Promise<void>
  /** Returns a payout to the queue on the operator's decision; the limit per transaction does not apply to it again. */
  approve(id: string): Promise<void>
  /** False if the payout is no longer reserved, because it was signed. */
  void(id: string): Promise<boolean>
}
