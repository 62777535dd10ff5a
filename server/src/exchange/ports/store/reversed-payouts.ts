/** Payments that had their confirmations, and what the chain took back of them. */
export interface ReversedPayoutStore {
  /**
   * Locks the exchanges of a transaction's payouts: before the transaction itself, as steps lock them before anything else.
   * `shown` = only those that say that their payment has vanished.
   */
  lockExchanges(transactionId: string, which: 'all' | 'shown'): Promise<void>
  /** Locks the exchange of a payout that is owed beside it. */
  lockExchangeOf(payoutId: string): Promise<void>
  /** Closed executions say that their payment is in no block (`PAYOUT_VANISHED`). False where there was nothing new to say. */
  recordOrphaned(transactionId: string): Promise<boolean>
  /** Whether one of them says so. */
  isReportedOrphaned(transactionId: string): Promise<boolean>
  /** They are paid, by this transaction: what they were before. */
  restore(transactionId: string, txHash: string): Promise<void>
  /**
   * The payouts of a confirmed transaction that is proved dead wait for a person. True = its exchange is closed: what it paid
   * is owed beside the exchange.
   */
  reopen(transactionId: string): Promise<ReadonlyMap<string, boolean>>
  /** A person settled it without the house: its execution says so. */
  settleByHand(payoutId: string): Promise<void>
}
