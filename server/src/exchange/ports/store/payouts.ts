import type { AssetId } from '../../../core/domain/asset.ts'
import type { Account } from '../../../core/domain/ledger/journal.ts'
import type { KeyPath } from '../spend.ts'
import type { PayoutPurpose } from './execution.ts'

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
  memo: string | null
  units: bigint
  approved: boolean
  /** The venue order whose proceeds it pays. */
  orderId: string | null
  /** The account that owed a withdrawal before it was asked for; null = it is no pay-out of what is owed. */
  owedFrom: Account | null
  /** It had its confirmations once: its exchange is closed, and what it pays is owed beside it. */
  isReversed: boolean
  state: 'reserved' | 'signed' | 'confirmed' | 'void'
}>

export interface PayoutStore {
  /** `from: 'hot'` is the network's own wallet, by the key that it was registered with. */
  insert(
    payout: Omit<Payout, 'state' | 'partnerId' | 'approved' | 'orderId' | 'owedFrom' | 'isReversed' | 'from'> &
      Partial<Pick<Payout, 'owedFrom'>> & { from: 'hot' | KeyPath; heldMs?: number },
  ): Promise<void>
  /**
   * The queue of a network, oldest first; locked, and skipping what others hold, inside a transaction. Payouts and
   * refunds stand in it only while their deposit is counted and as deep as it must be, which their lock keeps so.
   */
  queue(network: string, limit: number): Promise<readonly Payout[]>
  listByTransaction(transactionId: string): Promise<readonly Payout[]>
  /** Whether the deposits that a transaction's payouts answer are counted still; locked, so that they stay so. */
  haveCreditedDeposits(transactionId: string): Promise<boolean>
  find(ids: readonly string[]): Promise<readonly Payout[]>
  sign(ids: readonly string[], transactionId: string): Promise<void>
  confirm(transactionId: string): Promise<void>
  /** Puts aside what is in the queue: for a while, or with `attention` for the operator. What was signed meanwhile stays signed. */
  hold(ids: readonly string[], attention: string | null, heldMs: number | null): Promise<void>
  /** Younger ones of the same wallet and asset wait as long as these: filled again, the queue goes on in its order. */
  deferYounger(ids: readonly string[]): Promise<void>
  /** The payouts of a transaction that is proved dead are in the queue again, or with `attention` wait for the operator. */
  requeue(transactionId: string, attention: string | null): Promise<void>
  /** Back in the queue by an operator's word: the limit of one transaction does not stop it again. */
  approve(id: string): Promise<void>
  /** False where it is reserved no more: somebody signed it meanwhile. */
  void(id: string): Promise<boolean>
}
