/** Confirmed payouts whose transaction left the chain. */
export interface ReversedPayoutStore {
  /**
   * Locks the exchanges of a transaction's payouts. Call it before locking the transaction, because steps lock the exchange
   * first. `orphaned` = only exchanges that show `PAYOUT_VANISHED`.
   */
  lockExchanges(transactionId: string, which: 'all' | 'orphaned'): Promise<void>
  /** Locks the exchange of a payout that was reversed after its exchange had closed. */
  lockExchangeOf(payoutId: string): Promise<void>
  /** Sets the reason `PAYOUT_VANISHED` on the closed executions. False if all of them had it. */
  recordOrphaned(transactionId: string): Promise<boolean>
  /** Whether an execution of this transaction shows `PAYOUT_VANISHED`. */
  isReportedOrphaned(transactionId: string): Promise<boolean>
  /** Restores the executions of a transaction that is confirmed again: previous reason, this hash. */
  restore(transactionId: string, txHash: string): Promise<void>
  /**
   * Holds the payouts of a confirmed transaction that was invalidated, for the operator. Returns for each payout whether its
   * exchange is closed, so that the amount is owed outside of the exchange.
   */
  reopen(transactionId: string): Promise<ReadonlyMap<string, boolean>>
  /** Records on the execution that the operator paid it from elsewhere. */
  settleByHand(payoutId: string): Promise<void>
}
