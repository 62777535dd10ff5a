/** Wakes the stepper for a row. A lost, doubled, late or reordered wake-up is harmless: rows are the truth. */
export interface Waker<Tx> {
  /** In the caller's transaction: the wake-up exists exactly if the transaction commits. `at` null = now. */
  wake(kind: 'exchange' | 'transaction', id: string, at: Date | null, tx: Tx): Promise<void>
}
